// A provider of processes in a process of its own: creates a space and waits for a signal.
import { processesProvider } from "@virtual-workspaces/spaces";
import { Opened } from "./processes.ts";
import { serverIn } from "./server-in.ts";

const [directory = "", keep = ""] = process.argv.slice(2);
const type = processesProvider({ directory, command: serverIn, checkEvery: 50, keep: keep === "keep" });
const provider = new Opened(
  await type.open({ name: "here", secret: {}, log: () => undefined, signal: new AbortController().signal }),
);
await provider.create("shop");
await provider.ready("shop");
process.stdin.once("data", () => process.exit(3));
console.log("ready");
