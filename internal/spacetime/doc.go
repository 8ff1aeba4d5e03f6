// Package spacetime draws space-time diagrams: a lifeline for each node, time
// downwards, an arrow for each message from where it is sent to where it
// arrives, a box while a node is in its critical section.
//
// A [Diagram] lists what there is to see; rows are the steps of a schedule, one
// event to each, so that their numbers are those of a printed trace. What it
// shows is told apart by shape and shade as well as by colour. The drawing is a
// function of the Diagram: an SVG file of its own, without scripts or fonts to
// load, that any browser shows.
package spacetime
