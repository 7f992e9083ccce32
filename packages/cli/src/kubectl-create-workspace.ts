#!/usr/bin/env node
// `kubectl create workspace`: kubectl runs the executable of this name on the PATH for that command.
import { run } from "./ws/run-subcommand.ts";

await run(["create", ...process.argv.slice(2)]);
