// Package systems lists the lock services of this module.
package systems

import (
	"dmebench"

	"dmebench/baselines/etcd"
	"dmebench/baselines/natskv"
	"dmebench/baselines/postgres"
	"dmebench/baselines/redis"
	"dmebench/lock"
)

// Config is what dmebench has more with them.
func Config() dmebench.Config {
	return dmebench.Config{Locks: []*lock.System{etcd.System(), natskv.System(), redis.System(), postgres.System()}}
}
