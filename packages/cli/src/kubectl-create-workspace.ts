#!/usr/bin/env node
// `kubectl create workspace`: what is called so on the PATH is a command of `kubectl create`.
import { run } from "./ws/run-subcommand.ts";

await run(["create", ...process.argv.slice(2)]);
