// Udpservice is a small replicated key-value store over UDP: a leader and two
// followers, in a naive and a reliable version. See README.md.
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

	"github.com/dstkit/dst/examples/udpservice/client"
	"github.com/dstkit/dst/examples/udpservice/naive"
	"github.com/dstkit/dst/examples/udpservice/reliable"
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
	flags := flag.NewFlagSet("udpservice", flag.ContinueOnError)
	var (
		mode    = flags.String("mode", "reliable", "version of the store: `naive or reliable`")
		list    = flags.String("nodes", "127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002", "the three nodes' `addresses`; the first leads")
		node    = flags.Int("node", 0, "run, or with -get ask, the node at this `place` of -nodes, from 0")
		put     = flags.String("put", "", "put `key=value` instead of running a node")
		get     = flags.String("get", "", "get this `key` instead of running a node")
		timeout = flags.Duration("timeout", 5*time.Second, "how long to try a put or get")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	nodes := strings.Split(*list, ",")
	if *node < 0 || *node >= len(nodes) {
		return fmt.Errorf("-node %d: there are %d nodes", *node, len(nodes))
	}
	switch {
	case *put != "" || *get != "":
		ctx, cancel := context.WithTimeout(ctx, *timeout)
		defer cancel()
		return ask(ctx, nodes, *node, *put, *get)
	case *mode == "naive":
		return naive.Run(ctx, naive.Config{Nodes: nodes, ID: *node})
	case *mode == "reliable":
		return reliable.Run(ctx, reliable.Config{Nodes: nodes, ID: *node})
	}
	return fmt.Errorf("-mode %q: naive or reliable", *mode)
}

// ask does a put at the leader, then a get at the chosen node.
func ask(ctx context.Context, nodes []string, node int, put, get string) error {
	c := client.New(nodes[0])
	defer c.Close()
	if put != "" {
		key, value, ok := strings.Cut(put, "=")
		if !ok {
			return fmt.Errorf("-put %q: want key=value", put)
		}
		v, err := c.Put(ctx, key, value)
		if err != nil {
			return err
		}
		fmt.Printf("put %s=%s (seq %d, epoch %d)\n", key, value, v.Seq, v.Epoch)
	}
	if get != "" {
		value, v, ok, err := c.Get(ctx, nodes[node], get)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s: no such key", get)
		}
		fmt.Printf("%s=%s (seq %d, epoch %d)\n", get, value, v.Seq, v.Epoch)
	}
	return nil
}
