// Walstore is a replicated key-value store on write-ahead logs, and a client of it.
// See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/dstkit/dst/examples/walstore/client"
	"github.com/dstkit/dst/examples/walstore/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("walstore", flag.ContinueOnError)
	var (
		id      = flags.Int("node", 0, "run this node: 0, the leader, or 1 or 2")
		addrs   = flags.String("nodes", "127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002", "`addresses` of the nodes, the same for all")
		dir     = flags.String("dir", "", "`folder` of the node's log; the one above it has to be there")
		put     = flags.String("put", "", "put `key=value` instead of running a node")
		get     = flags.String("get", "", "get this `key` instead of running a node")
		timeout = flags.Duration("timeout", 10*time.Second, "how long to try, for -put and -get")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	nodes := strings.Split(*addrs, ",")
	if *put == "" && *get == "" {
		if *dir == "" {
			return errors.New("want -dir FOLDER, one for each node; or -put or -get")
		}
		n, err := store.Open(store.Config{Nodes: nodes, ID: *id, Dir: *dir})
		if err != nil {
			return err
		}
		return n.Run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	c := client.New(nodes[0])
	defer c.Close()
	if *put != "" {
		key, value, ok := strings.Cut(*put, "=")
		if !ok {
			return fmt.Errorf("-put %s: want key=value", *put)
		}
		seq, err := c.Put(ctx, key, value)
		if err == nil {
			fmt.Printf("put %d\n", seq)
		}
		return err
	}
	value, seq, err := c.Get(ctx, *get)
	if err == nil && seq == 0 {
		err = fmt.Errorf("no such key: %s", *get)
	}
	if err == nil {
		fmt.Println(value)
	}
	return err
}
