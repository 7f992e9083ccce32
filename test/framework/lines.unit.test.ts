// Queue of lines: its memory, and lost lines.
import { expect } from "chai";
import { LineQueue, Pieces } from "../../packages/framework/src/observe/log/line-queue.ts";
import { lineWriter } from "../../packages/framework/src/observe/log/target.ts";

const KIB = 1024;

describe("queued lines", () => {
  it("take no more memory than their length, if they are long", () => {
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

  it("are counted by the memory they take", async () => {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const writer = { open: () => taken, write: () => taken, close: () => taken };
    const queue = new LineQueue({ writer, limit: 600 * KIB, delay: 0, onLost: () => undefined });
    // No two of them share a piece: each takes 64 KiB.
    let added = 0;
    for (; !queue.full; added++) queue.add("x".repeat(33 * KIB));
    expect(added).to.be.within(9, 11);
    resolve();
    await queue[Symbol.asyncDispose]();
    expect(queue.isFullWith(600 * KIB - 1)).to.equal(false);
  });

  it("are each passed to a function, whichever of them it rejects", async () => {
    const taken: string[] = [];
    const lost: [number, string][] = [];
    const take = async (line: string): Promise<void> => {
      if (line === "3" || line === "5") throw new Error(`no ${line}`);
      taken.push(line);
    };
    const onLost = (count: number, error: unknown): void => void lost.push([count, String(error)]);
    await using queue = new LineQueue({ writer: lineWriter(take, () => undefined), limit: 1000, delay: 0, onLost });
    for (let at = 0; at < 8; at++) queue.add(String(at));
    await queue.flush();
    expect(taken).to.deep.equal(["0", "1", "2", "4", "6", "7"]);
    expect(lost).to.deep.equal([[2, "Error: no 5"]]);
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
