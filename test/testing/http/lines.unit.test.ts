import { Readable } from "node:stream";
import { expect } from "chai";
import { lines } from "../../../packages/testing/src/http/watch-stream.ts";

async function linesOf(pieces: readonly (string | Buffer)[], maxBytes = 100): Promise<string[]> {
  const source = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  const found: string[] = [];
  for await (const line of lines(source, maxBytes)) found.push(line);
  return found;
}

async function failureOf(pieces: readonly string[], maxBytes?: number): Promise<string> {
  return linesOf(pieces, maxBytes).then(
    () => "nothing",
    (error: Error) => error.message,
  );
}

describe("lines of a stream", () => {
  it("do not depend on the chunks of the stream", async () => {
    const text = '{"a":1}\n\n{"b":"ä€😀"}\n';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)])).to.deep.equal(text.split("\n").slice(0, -1));
    }
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(await linesOf(single)).to.deep.equal(text.split("\n").slice(0, -1));
  });

  it("are none for an empty stream", async () => {
    expect(await linesOf([])).to.deep.equal([]);
  });

  it("end with a newline: a last line without one may be truncated", async () => {
    expect(await failureOf(["one\ntwo"])).to.equal('the stream ended within a line: "two"');
  });

  it("have a maximum length, with and without a newline", async () => {
    expect(await linesOf(["12345\n12345\n"], 5)).to.have.length(2);
    expect(await failureOf(["12345\n123456\n"], 5)).to.equal("a line is longer than 5 bytes");
    expect(await failureOf(["123", "456"], 5)).to.equal("a line is longer than 5 bytes");
  });

  it("are read only on demand", async () => {
    let read = 0;
    async function* source(): AsyncGenerator<Buffer> {
      for (; ; read++) yield Buffer.from(`${read}\n`);
    }
    const found = lines(source(), 10);
    await found.next();
    await found.next();
    expect(read).to.be.at.most(2);
    await found.return();
  });
});
