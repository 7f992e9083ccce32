import { Writable } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import { PiecePool, PieceWriter } from "../../packages/framework/src/encode/pieces.ts";

const PIECE = 512 * 1024;

/** Keeps a copy of what it is given: the writer uses its buffer again. */
function sink(): { readonly out: Writable; readonly written: Buffer[] } {
  const written: Buffer[] = [];
  const out = new Writable({
    write(chunk: Buffer, _encoding, done): void {
      written.push(Buffer.from(chunk));
      setImmediate(done);
    },
  });
  return { out, written };
}

const sizes = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }),
  fc.constantFrom(4095, 4096, 4097, PIECE - 2, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE),
);

describe("pieces", () => {
  const pool = new PiecePool();

  it("hold all bytes in order, whatever their sizes, and the separator between them instead of what is skipped", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sizes, { maxLength: 40 }), async (lengths) => {
        const skip = 3;
        const buffers = lengths.map((length, n) => Buffer.alloc(skip + length, 97 + (n % 26)));
        const { out, written } = sink();
        const writer = new PieceWriter(out, pool);
        await writer.add(Buffer.from("["));
        await writer.addAll(buffers, { separator: Buffer.from(",{"), skip });
        await writer.add(Buffer.from("]"));
        await writer.finish();
        const expected = Buffer.concat([
          Buffer.from("["),
          ...buffers.flatMap((buffer, n) => [...(n === 0 ? [] : [Buffer.from(",{")]), buffer.subarray(skip)]),
          Buffer.from("]"),
        ]);
        expect(Buffer.concat(written).equals(expected)).to.equal(true);
        expect(
          Math.max(...written.filter(({ length }) => !lengths.includes(length)).map(({ length }) => length), 0),
        ).to.be.at.most(PIECE);
      }),
      { numRuns: 60 },
    );
  });

  it("are few: a large body costs a write for each half mebibyte", async () => {
    const { out, written } = sink();
    const writer = new PieceWriter(out, pool);
    await writer.addAll(
      Array.from({ length: 2048 }, () => Buffer.alloc(1023)),
      { separator: Buffer.from(",") },
    );
    await writer.finish();
    expect(written.length).to.be.at.most(6);
  });

  it("come from buffers that are used again, a few of which are kept", async () => {
    const pool = new PiecePool();
    const taken = Array.from({ length: 20 }, () => pool.take());
    for (const piece of taken) pool.give(piece);
    const writer = new PieceWriter(sink().out, pool);
    await writer.addAll([Buffer.alloc(PIECE - 1), Buffer.alloc(PIECE - 1)]);
    await writer.finish();
    const again = Array.from({ length: 20 }, () => pool.take());
    expect(again.filter((piece) => taken.includes(piece))).to.have.length(8);
  });

  it("end with the stream's error", async () => {
    const out = new Writable({ write: (_chunk, _encoding, done) => done(new Error("gone")) });
    out.on("error", () => undefined);
    const writer = new PieceWriter(out, pool);
    const failure = await writer.addAll([Buffer.alloc(PIECE), Buffer.alloc(PIECE)]).catch(String);
    expect(failure).to.equal("Error: gone");
  });
});
