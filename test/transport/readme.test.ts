// The example of the package's README runs as printed.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { plainAnswer, startRaw } from "../_support/raw.ts";

describe("packages/transport/README.md", () => {
  it("runs as printed", async () => {
    const [, example = ""] =
      /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "packages/transport/README.md"), "utf8")) ?? [];
    await using server = await startRaw(({ text, socket }) => {
      expect(text).to.contain("Authorization: Bearer secret\r\n");
      if (text.startsWith("GET /version ")) socket.write(plainAnswer("v1"));
      else socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"n":1}\n\r\n3\r\n{"n');
    });
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module-typescript", "-e", example],
      { cwd: root, env: { ...process.env, UPSTREAM: server.url, TOKEN: "secret" } },
    );
    expect(stdout.trim().split("\n")).to.deep.equal(["200 v1", '{"n":1}', "reset"]);
  });
});
