// The bound on what is read, which the public client sets too high for a test.
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { Requests } from "../../../packages/client/src/http/requests.ts";
import { answering, note } from "../answers.ts";
import { transportError } from "../thrown.ts";

describe("an answer that is too long", () => {
  it("is not read to its end, packed or not", async () => {
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
