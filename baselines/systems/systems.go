// Package systems lists the lock services of this module.
package systems

import (
	"dmebench"

	"dmebench/baselines/etcd"
	"dmebench/baselines/natskv"
	"dmebench/baselines/postgres"
	"dmebench/baselines/redis"
	"dmebench/baselines/servers"
)

func all() []*servers.System {
	return []*servers.System{etcd.System(), natskv.System(), redis.System(), postgres.System()}
}

// Config is what dmebench has more with them.
func Config() (c dmebench.Config) {
	for _, s := range all() {
		c.Locks = append(c.Locks, s.Lock())
	}
	return c
}

// Main is the program that has them, and the processes of its servers.
func Main() {
	servers.Main(all())
	dmebench.Main(Config())
}
