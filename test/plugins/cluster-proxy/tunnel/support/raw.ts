// Raw bytes of one end of a tunnel: the messages before HTTP/2, and its first frame.
import type { Duplex } from "node:stream";
import { expect } from "chai";

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** SETTINGS frame without settings, the first of each end. */
export const SETTINGS = Buffer.from("000000040000000000", "hex");
const ACKNOWLEDGED = "0401";

/** Starts HTTP/2 although the hub at the other end has not requested it. */
export async function begun(socket: Duplex): Promise<void> {
  socket.write(">");
  expect(await take(socket, 1)).to.equal(">");
}

/** Reads the next bytes as characters. */
export async function take(socket: Duplex, size: number): Promise<string> {
  return (await bytes(socket, size)).toString("latin1");
}

/** Reads frames up to the acknowledgement of the settings. */
export async function acknowledged(socket: Duplex): Promise<void> {
  for (;;) {
    const head = await bytes(socket, 9);
    const size = head.readUIntBE(0, 3);
    if (size > 0) await bytes(socket, size);
    if (head.toString("hex", 3, 5) === ACKNOWLEDGED) return;
  }
}

async function bytes(socket: Duplex, size: number): Promise<Buffer> {
  for (;;) {
    const taken: Buffer | null = socket.read(size);
    if (taken !== null) return taken;
    expect(socket.readable, "it goes on").to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
