package dst

import "flag"

// What the person who runs the tests can ask for.
var (
	seedSetting  = setting{flag: "dst.seed", env: "DST_SEED"}
	seedsSetting = setting{flag: "dst.seeds", env: "DST_SEEDS"}
	verbose      = setting{flag: "dst.v", env: "DST_V", bare: "1"}
	checking     = setting{flag: "dst.check", env: "DST_CHECK", bare: "1"}
	tracing      = setting{flag: "dst.trace", env: "DST_TRACE"}
	capturing    = setting{flag: "dst.pcap", env: "DST_PCAP"}
)

func init() {
	flag.Var(&seedSetting, "dst.seed", "run simulations under this one `seed` (or DST_SEED)")
	flag.Var(&seedsSetting, "dst.seeds", "run simulations under these `seeds`: 100 (the first hundred), 5-900, 1,7,9 (or DST_SEEDS)")
	flag.Var(&verbose, "dst.v", "print a line for each seed; 2 shows the output of hosts as it comes (or DST_V)")
	flag.Var(&tracing, "dst.trace", "keep the trace of each seed in this `directory`, and compare it with one that an earlier process left there (or DST_TRACE)")
	flag.Var(&capturing, "dst.pcap", "write the packets of each seed to a file in this `directory`, for Wireshark and tcpdump (or DST_PCAP)")
	flag.Var(&checking, "dst.check", "run each seed twice and compare the runs step by step (or DST_CHECK)")
}
