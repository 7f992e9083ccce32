import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { serveSite } from "../../tools/docs/serve.mjs";
import { tree } from "../_setup/tree.ts";

/** Requests a raw path: `fetch` would resolve the dots in it. */
async function get(url: string, path: string) {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } =
    Promise.withResolvers<readonly [number | undefined, string | undefined, string]>();
  request({ hostname, port, path }, async (response) => {
    resolve([response.statusCode, response.headers["content-type"], await text(response)]);
  })
    .on("error", reject)
    .end();
  return await promise;
}

describe("docs --serve", () => {
  it("serves files below its path on loopback only, and 404 for the rest", async () => {
    using folder = tree({
      "secret.txt": "secret",
      "site/index.html": "home",
      "site/404.html": "not found",
      "site/a/index.html": "a",
      "site/assets/x.js": "1",
    });
    const { url, close } = await serveSite({ folder: `${folder.path}/site`, port: 0, base: "/some/path/" });
    try {
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/some\/path\/$/);
      const html = "text/html; charset=utf-8";
      expect(await get(url, "/some/path/")).to.deep.equal([200, html, "home"]);
      expect(await get(url, "/some/path/a/")).to.deep.equal([200, html, "a"]);
      expect(await get(url, "/some/path/assets/x.js")).to.deep.equal([200, "text/javascript; charset=utf-8", "1"]);
      for (const path of [
        "/",
        "/some/path/b",
        "/some/path/../../secret.txt",
        "/some/path/..%2fsecret.txt",
        "/some/path/%zz",
        "/some/path/%00",
      ])
        expect(await get(url, path), path).to.deep.equal([404, html, "not found"]);
    } finally {
      await close();
    }
  });
});
