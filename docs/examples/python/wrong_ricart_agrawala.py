#!/usr/bin/env python3
"""Ricart and Agrawala's algorithm with a mistake that is easy to make: requests are
compared by their sequence numbers alone, and of two that are equal neither is
deferred. Two nodes that ask at the same time both get every reply, and both enter.

    dmebench run --exec ./wrong_ricart_agrawala.py --nodes 5
"""
import ricart_agrawala


class Wrong(ricart_agrawala.Node):
    def asked(self, src, number):
        self.highest = max(self.highest, number)
        if self.request is not None and self.request[0] < number:  # no word of equal numbers
            self.deferred.append(src)
        else:
            self.send(src, type="REPLY")


ricart_agrawala.Node = Wrong
ricart_agrawala.main()
