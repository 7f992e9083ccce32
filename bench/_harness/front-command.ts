// Why: a front proxy with workers is a command with processes of its own, so CPU and memory are those of all of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import { root } from "../../tools/install.mjs";

/** A running `virtual-workspaces front-proxy`. */
export interface FrontCommand extends AsyncDisposable {
  readonly port: number;
  /** Its processes, the primary one first. */
  readonly pids: readonly number[];
}

export interface FrontCommandOptions {
  /** Folder for its files. */
  readonly folder: string;
  /** Port of the shard, plain HTTP. */
  readonly shard: number;
  readonly workers: number;
  readonly serving: KeyPair;
}

/** Starts the command before one shard. The token `bench-token` is that of alice. */
export async function startFront({ folder, shard, workers, serving }: FrontCommandOptions): Promise<FrontCommand> {
  const at = (name: string): string => join(folder, name);
  const url = `http://127.0.0.1:${shard}`;
  const kubeconfig = {
    clusters: [{ name: "shard", cluster: { server: url } }],
    users: [{ name: "admin", user: { token: "any" } }],
    contexts: [{ name: "shard", context: { cluster: "shard", user: "admin" } }],
    "current-context": "shard",
  };
  writeFileSync(at("kubeconfig"), JSON.stringify(kubeconfig));
  writeFileSync(at("tls.crt"), serving.cert);
  writeFileSync(at("tls.key"), serving.key);
  writeFileSync(at("users.csv"), 'bench-token,alice,1,"system:kcp:admin"\n');
  const shown = { backend_server_ca: at("tls.crt"), proxy_client_cert: at("tls.crt"), proxy_client_key: at("tls.key") };
  writeFileSync(at("mapping.yaml"), JSON.stringify([{ path: "/clusters/", backend: "https://localhost", ...shown }]));
  const args = [
    ...["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts"), "front-proxy"],
    ...[`--mapping-file=${at("mapping.yaml")}`, `--token-auth-file=${at("users.csv")}`, `--workers=${workers}`],
    ...[`--root-kubeconfig=${at("kubeconfig")}`, `--shards-kubeconfig=${at("kubeconfig")}`],
    ...[`--tls-cert-file=${at("tls.crt")}`, `--tls-private-key-file=${at("tls.key")}`],
    ...["--bind-address=127.0.0.1", "--secure-port=0"],
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let port = 0;
  for await (const line of createInterface(child.stdout)) {
    port = Number(/^Ready .*:(\d+): /.exec(line)?.[1] ?? 0);
    if (port > 0) break;
  }
  if (port === 0) throw new Error("the front proxy ended before it was ready");
  const { pid = 0 } = child;
  return {
    port,
    pids: [pid, ...childrenOf(pid)],
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}

/** CPU of a process with all its threads so far, µs. */
export function cpuOf(pid: number): number {
  const task = `/proc/${pid}/task`;
  const nanoseconds = (id: string): number => Number(readFileSync(`${task}/${id}/schedstat`, "utf8").split(" ")[0]);
  return readdirSync(task).reduce((sum, id) => sum + nanoseconds(id), 0) / 1000;
}

/** Memory that only this process has, with its part of what several share, MiB. */
export function memoryOf(pid: number): number {
  const [, kib] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
