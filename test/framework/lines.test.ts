// Lines on their way out: how much of the memory they take, and what of them is lost.
import { expect } from "chai";
import { LineQueue } from "../../packages/framework/src/lines/line-queue.ts";
import { Pieces } from "../../packages/framework/src/lines/piece.ts";

const KIB = 1024;

describe("lines that wait", () => {
  it("take no more memory than they are long, if they are long", () => {
    const pieces = new Pieces();
    for (const line of ["x".repeat(30 * KIB), "x".repeat(200 * KIB), "€".repeat(50 * KIB)]) {
      const size = Buffer.byteLength(line) + 1;
      const piece = pieces.take(line);
      expect(piece.buffer.length).to.equal(Math.max(size, 64 * KIB));
      expect(piece.fits(line)).to.equal(true);
      piece.add(line);
      expect(String(piece.bytes)).to.equal(`${line}\n`);
    }
  });

  it("are counted by the memory that they take", async () => {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const writer = { open: () => taken, write: () => taken, close: () => taken };
    const queue = new LineQueue({ writer, limit: 600 * KIB, delay: 0, onLost: () => undefined });
    // No two of them go together: each has 64 KiB for itself.
    let added = 0;
    for (; !queue.full; added++) queue.add("x".repeat(33 * KIB));
    expect(added).to.be.within(9, 11);
    resolve();
    await queue[Symbol.asyncDispose]();
    expect(queue.isFullWith(600 * KIB - 1)).to.equal(false);
  });

  it("leave room for others while a few are written", async () => {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const write = (): Promise<void> => {
      ask();
      return taken;
    };
    const queue = new LineQueue({
      writer: { open: write, write, close: write },
      limit: 1000,
      delay: 0,
      onLost: () => undefined,
    });
    queue.add("short");
    await asked;
    expect(queue.isFullWith(900)).to.equal(false);
    expect(queue.isFullWith(994)).to.equal(true);
    resolve();
    await queue[Symbol.asyncDispose]();
  });
});
