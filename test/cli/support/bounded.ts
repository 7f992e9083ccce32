// Program for bounded-memory.e2e.test.ts: it bounds its memory, and prints with what it runs.
import { boundMemory } from "../../../packages/cli/src/process/bounded-memory.ts";

boundMemory();
const { execArgv, argv, env, pid } = process;
const text = JSON.stringify({ execArgv, args: argv.slice(2), arenas: env["MALLOC_ARENA_MAX"], pid });
process.stdout.write(text, () => process.disconnect?.());
