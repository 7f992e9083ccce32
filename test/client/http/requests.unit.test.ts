// The response limit, which is too high in the public client for a test.
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { Requests } from "../../../packages/client/src/http/requests.ts";
import { answering, note } from "../answers.ts";
import { transportError } from "../thrown.ts";

describe("a response above the limit", () => {
  it("is not read to the end, compressed or not", async () => {
    const packed = { body: gzipSync(note("x".repeat(10_000))), headers: { "Content-Encoding": "gzip" } };
    await using at = await answering([{ body: note("x".repeat(10_000)) }, packed]);
    const requests = new Requests({
      upstream: at.client.upstream,
      prefix: "",
      headers: [],
      onWarning: undefined,
      retries: false,
    });
    for (const what of ["plain", "packed"]) {
      const error = await transportError(requests.json({ path: "/x", limit: 5_000 }));
      expect([error.code, error.message], what).to.satisfy(
        ([code, text]: string[]) =>
          code === "tooLarge" && text?.endsWith("longer than 5000 bytes: set limit to list in pages"),
      );
    }
  });
});
