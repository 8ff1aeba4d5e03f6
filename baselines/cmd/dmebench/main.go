// Command dmebench is dmebench with lock services beside the algorithms.
package main

import (
	"dmebench"

	"dmebench/baselines/etcd"
	"dmebench/baselines/natskv"
	"dmebench/baselines/postgres"
	"dmebench/baselines/redis"
	"dmebench/lock"
)

func main() {
	dmebench.Main(dmebench.Config{Locks: []*lock.System{etcd.System(), natskv.System(), redis.System(), postgres.System()}})
}
