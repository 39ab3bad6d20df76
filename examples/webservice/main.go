// Webservice is a ledger with an HTTPS interface, and a client of it. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dstkit/dst/examples/webservice/client"
	"github.com/dstkit/dst/examples/webservice/ledger"
	"github.com/dstkit/dst/examples/webservice/pki"
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
	flags := flag.NewFlagSet("webservice", flag.ContinueOnError)
	var (
		dir     = flags.String("dir", "", "`folder` of the server's data, and of authority.pem")
		addr    = flags.String("addr", "127.0.0.1:8443", "the server's `address`")
		account = flags.String("order", "", "have -amount put into this `account` instead of running a server")
		amount  = flags.Int64("amount", 1, "how much, for -order")
		http1   = flags.Bool("http1", false, "ask by HTTP/1.1")
		timeout = flags.Duration("timeout", 10*time.Second, "how long to try an order")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("want -dir FOLDER, the same for the server and its clients")
	}
	authority := filepath.Join(*dir, "authority.pem")
	if *account == "" {
		cert, pem, err := pki.New("127.0.0.1", "localhost")
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(*dir, 0o755), os.WriteFile(authority, pem, 0o644)); err != nil {
			return err
		}
		return ledger.Run(ctx, ledger.Config{Addr: *addr, Cert: cert, Dir: *dir})
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		return fmt.Errorf("the server makes it: %w", err)
	}
	roots, err := pki.Roots(pem)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	c := client.New(client.Config{URL: "https://" + *addr, Roots: roots, HTTP2: !*http1})
	receipt, err := c.Order(ctx, ledger.Order{Account: *account, Amount: *amount})
	if err == nil {
		fmt.Printf("order %d; %s has %d\n", receipt.Seq, *account, receipt.Balance)
	}
	return err
}
