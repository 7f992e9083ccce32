import assert from "node:assert/strict";
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Largest number of source files on the path of a GET of one object: a reader who follows it has to read them all. */
const MOST_FILES = 25;

describe("the path of a GET", () => {
  it("passes few files between the socket and the bytes of an object", async () => {
    const worker = new Worker(new URL("get-path-worker.ts", import.meta.url));
    const [files]: readonly string[][] = await once(worker, "message");
    await worker.terminate();
    assert.ok(files !== undefined);
    if (process.env["SHOW"]) console.log(files);
    assert.ok(
      files.length <= MOST_FILES,
      `a GET passes ${files.length} files, ${MOST_FILES} at most: fold what belongs together\n${files.join("\n")}`,
    );
    assert.ok(
      files.some((file) => file.endsWith("/pipeline.ts")),
      "the files of the server are counted",
    );
  });
});
