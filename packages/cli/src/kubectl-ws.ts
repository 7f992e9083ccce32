#!/usr/bin/env node
// `kubectl ws`: kubectl runs the executable kubectl-ws on the PATH.
import { run } from "./ws/run-subcommand.ts";

await run(process.argv.slice(2));
