// Terminals and ports through kubectl. They carry bytes, which the tests compare by SHA-256.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { type KubectlHome, startKubectl } from "./kubectl.ts";
import type { Program } from "./program.ts";

/** Protocols for streams, with kubectl's own switches. */
export const PROTOCOLS = {
  WebSocket: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "true", KUBECTL_PORT_FORWARD_WEBSOCKETS: "true" },
  SPDY: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" },
} as const;

export type Protocol = keyof typeof PROTOCOLS;

export interface Piped {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a kubectl with bytes on stdin until it exits, and returns those on stdout. */
export async function piped(
  file: string,
  { home, kubeconfig, env }: KubectlHome,
  { args, input = Buffer.alloc(0) }: { readonly args: readonly string[]; readonly input?: Buffer },
): Promise<Piped> {
  const own = { ...CHILD_ENV, HOME: home, KUBECONFIG: kubeconfig, KUBERC: "off", ...env };
  const child = spawn(file, args, { env: own });
  child.stdin.on("error", () => undefined).end(input); // the program may not read all of it
  const read = Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  const [code] = (await once(child, "close")) as [number | null];
  const [stdout, stderr] = await read;
  return { code, stdout, stderr: String(stderr) };
}

/** Runs exec, attach and port-forward against the pod `running` of a target, and checks bytes and exit codes: four upgrades. */
export async function expectStreams(file: string, home: KubectlHome): Promise<void> {
  const bytes = randomBytes(1024 * 1024);
  const run = (args: readonly string[], input?: Buffer) => piped(file, home, { args, ...(input && { input }) });
  const up = await run(["exec", "-i", "running", "--", "sum"], bytes);
  expect([up.code, String(up.stdout)], up.stderr).to.deep.equal([0, summed(bytes)]);
  expect((await run(["exec", "running", "--", "exit", "7"])).code).to.equal(7);
  const attached = await run(["attach", "-i", "running"], Buffer.from("hello\n"));
  expect([attached.code, String(attached.stdout)], attached.stderr).to.deep.equal([0, "attached\nhello\n"]);
  await using echo = await PortForward.start(file, home, ["running", 7]);
  expect(summed(await echo.exchange(bytes))).to.equal(summed(bytes));
}

/** Returns the output of the target's `sum` for these bytes. */
export function summed(bytes: Buffer): string {
  return `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}\n`;
}

/** kubectl that forwards a port of a pod, killed at the end of its `await using` block. */
export class PortForward implements AsyncDisposable {
  readonly program: Program;
  readonly #port: number;

  private constructor(program: Program, port: number) {
    this.program = program;
    this.#port = port;
  }

  static async start(file: string, home: KubectlHome, [pod, port]: readonly [string, number]): Promise<PortForward> {
    const program = startKubectl(file, home, ["port-forward", "--address=127.0.0.1", pod, `:${port}`]);
    const own = /^Forwarding from 127\.0\.0\.1:(\d+) -> /;
    const line = await program.until("a forwarded port", () => program.lines.find((one) => own.test(one)));
    return new PortForward(program, Number(own.exec(line)?.[1]));
  }

  /** Opens a connection to the port. */
  async connect(): Promise<Socket> {
    const socket = connect({ port: this.#port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }

  /** Sends bytes on a new connection, ends its own side, and returns all received bytes. */
  async exchange(bytes: Buffer): Promise<Buffer> {
    const socket = await this.connect();
    socket.end(bytes);
    return buffer(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
  }
}
