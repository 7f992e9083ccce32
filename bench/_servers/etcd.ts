// Why: an etcd of the bench must not outlive it, however it ends. This process goes with the bench, and etcd with it.
import { type ChildProcess, spawn } from "node:child_process";
import { freePorts } from "../../test/_support/free-ports.ts";
import { serveCommands } from "../_harness/commands.ts";

let etcd: ChildProcess | undefined;
process.once("exit", () => etcd?.kill("SIGKILL"));

const commands = {
  /** One member, as its defaults are: acknowledged is what is on disk. @returns where it is, soon */
  start: async ({ file, dir }: { readonly file: string; readonly dir: string }): Promise<string> => {
    const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
    const flags = {
      name: "bench",
      "data-dir": dir,
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": `bench=${peer}`,
      logger: "zap",
      "log-level": "error",
    };
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    etcd = spawn(file, args, { stdio: ["ignore", "ignore", "inherit"] });
    etcd.once("exit", (code, signal) => {
      throw new Error(`etcd ended before its time (${signal ?? code})`);
    });
    return client ?? "";
  },
};

export type Etcd = typeof commands;

serveCommands(commands);
