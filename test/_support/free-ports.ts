// Ports for programs that must know theirs before they start. One that the system gives to who asks for any may be given to somebody
// else before it is used; these lie below what it gives, and each process has its own.
import { once } from "node:events";
import { createServer } from "node:net";

/** Linux gives from 32768, others from 49152. */
const FIRST = 10_000;
const LANE = 4000;

/** Mocha's workers, and those that are none. */
const lane =
  FIRST + LANE * (process.env["MOCHA_WORKER_ID"] === undefined ? 4 : Number(process.env["MOCHA_WORKER_ID"]) % 4);
let at = Math.floor(Math.random() * LANE); // elsewhere than in another run on this machine

/** As many that nobody listens on, at 127.0.0.1; the same process gets none twice before 4,000 others. */
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
