// Ports for programs that need to know theirs before they start. The system may assign an ephemeral port to another process
// before it is used. These are below the ephemeral range, and each process has its own.
import { once } from "node:events";
import { createServer } from "node:net";

/** The ephemeral range begins at 32768 on Linux, elsewhere at 49152. */
const FIRST = 10_000;
const LANE = 4000;

/** Range for a Mocha worker, or for a process without workers. */
const lane =
  FIRST + LANE * (process.env["MOCHA_WORKER_ID"] === undefined ? 4 : Number(process.env["MOCHA_WORKER_ID"]) % 4);
let at = Math.floor(Math.random() * LANE); // differs from other runs on this machine

/** Returns unused ports of 127.0.0.1. A process gets the same one again only after 4,000 others. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = lane + (at++ % LANE);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  await once(server.close(), "close");
  return true;
}
