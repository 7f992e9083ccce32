// The list of panels and their files, as the console serves them.
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { tree } from "../../_setup/tree.ts";
import { Note } from "../../_support/note.ts";
import { MARK, startConsole } from "./support/console-server.ts";

const FILES = {
  "panel.ts":
    'import { text } from "./parts/text.ts";\nexport const mount = (element: object): void => void (element, text);\n',
  "parts/text.ts": "export const text: string = 'text';\n",
  "panel.css": "p { color: red; }\n",
  "secret.js": "export const password = 'secret';\n",
};

describe("panels of the console", () => {
  async function start() {
    const folder = tree(FILES);
    const module = pathToFileURL(join(folder.path, "panel.ts"));
    const view = defineVirtualWorkspace({
      ...{ name: "notes", path: "/clusters/:cluster", authorize: authenticated() },
      resources: [Note.serve(Note.collection())],
      panels: [{ name: "notes", title: "Notes", module, files: ["parts/text.ts", "panel.css"] }],
    });
    const server = await startConsole(
      { panels: [{ name: "far", title: "Far", for: { group: "far.dev", resource: "things" }, module }] },
      { virtualWorkspaces: [view] },
    );
    const { cookie } = await server.signIn({ token: "alice" });
    const listed = async () => {
      const { status, body } = await server.call("/console/panels", { headers: { cookie, ...MARK } });
      return { status, panels: body.panels as { name: string; module?: string; error?: string }[] };
    };
    const moduleOf = async (name: string): Promise<string> =>
      `/console/${(await listed()).panels.find((one) => one.name === name)?.module}`;
    /** Reads a path as it is: fetch() would normalize it. */
    const raw = (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        const sent = request({ hostname, port, path }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on("error", reject).end();
      });
    return {
      ...{ server, folder, cookie, listed, moduleOf, raw },
      [Symbol.asyncDispose]: async () => {
        folder[Symbol.dispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  it("are listed for signed-in users, with the module of each", async () => {
    await using own = await start();
    const { status, panels } = await own.listed();
    expect(status).to.equal(200);
    expect(panels.map(({ module: _, ...rest }) => rest)).to.deep.equal([
      { name: "far", title: "Far", for: { group: "far.dev", resource: "things" } },
      {
        ...{ name: "notes", title: "Notes", for: { virtualWorkspace: "notes" } },
        path: "/services/notes/clusters/{cluster}",
      },
    ]);
    expect(panels[1]?.module).to.match(/^panels\/notes\/[\w-]{22}\/panel\.ts$/);
  });

  it("are not listed for users who are not signed in, nor for requests that the page has not caused", async () => {
    await using own = await start();
    const { server, cookie } = own;
    expect((await server.call("/console/panels", { headers: MARK })).status).to.equal(401);
    expect((await server.call("/console/panels", { headers: { cookie } })).status).to.equal(403);
    const cross = { cookie, ...MARK, "sec-fetch-site": "cross-site" };
    expect((await server.call("/console/panels", { headers: cross })).status).to.equal(403);
    const posted = await server.call("/console/panels", { method: "POST", headers: { cookie, ...MARK } });
    expect(posted.status).to.equal(405);
  });

  it("are served without their types, to be kept by browsers, with the policy of the page", async () => {
    const built = await ensureConsole();
    expect(built.ok, built.output).to.equal(true);
    await using own = await start();
    const module = await own.moduleOf("notes");
    const response = await fetch(`${own.server.url}${module}`);
    const text = await response.text();
    expect(text).to.include('from "./parts/text.ts"').and.not.include(": object");
    const page = await fetch(`${own.server.url}/console/`);
    const headersOf = (one: Response, names: readonly string[]) => names.map((name) => one.headers.get(name));
    const same = ["content-security-policy", "x-content-type-options", "cross-origin-resource-policy"];
    expect(headersOf(response, same)).to.deep.equal(headersOf(page, same));
    expect(response.headers.get("content-security-policy")).to.include("script-src 'self'").and.not.include("unsafe");
    expect(headersOf(response, ["content-type", "cache-control"])).to.deep.equal([
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ]);
    const etag = response.headers.get("etag") ?? "";
    const again = await fetch(`${own.server.url}${module}`, { headers: { "if-none-match": etag } });
    expect(again.status).to.equal(304);
    const style = await fetch(`${own.server.url}${module.replace("panel.ts", "panel.css")}`);
    expect(style.headers.get("content-type")).to.equal("text/css; charset=utf-8");
    const part = await fetch(`${own.server.url}${module.replace("panel.ts", "parts/text.ts")}`);
    expect(await part.text()).to.include("export const text");
  });

  it("serve no other file: neither of the folder, nor outside of it, nor of another panel", async () => {
    await using own = await start();
    const module = await own.moduleOf("notes");
    const folder = module.slice(0, module.lastIndexOf("/"));
    const version = folder.split("/").at(-1);
    for (const path of [
      `${folder}/secret.js`,
      `${folder}/`,
      folder,
      `${folder}/parts/../secret.js`,
      `${folder}/../../../../../../etc/passwd`,
      `${folder}/..%2f..%2f..%2f..%2fetc%2fpasswd`,
      `${folder}/%2e%2e/%2e%2e/package.json`,
      `${folder}/${own.folder.path}/secret.js`,
      `${folder}/panel.ts%00.js`,
      `/console/panels/notes/${"A".repeat(22)}/panel.ts`,
      `/console/panels/unknown/${version}/panel.ts`,
      `/console/panels/__proto__/${version}/panel.ts`,
    ])
      expect(await own.raw(path), path).to.be.oneOf([400, 404]);
    const unknown = await own.server.call(`${folder}/secret.js`);
    expect([unknown.body.kind, unknown.body.code]).to.deep.equal(["Status", 404]);
    expect((await own.server.call(module, { method: "POST" })).status).to.equal(405);
  });

  it("get another URL when a file has changed, and say why they cannot be served", async () => {
    await using own = await start();
    const before = await own.moduleOf("notes");
    writeFileSync(join(own.folder.path, "parts/text.ts"), "export const text: string = 'another text';\n");
    const after = await own.moduleOf("notes");
    expect(after).to.not.equal(before);
    expect((await fetch(`${own.server.url}${before}`)).status).to.equal(404);
    writeFileSync(join(own.folder.path, "panel.ts"), "export const mount = (: ;\n");
    const { panels } = await own.listed();
    expect(panels[1]?.error).to.match(/the panel "notes" cannot be served: line 1 of panel[.]ts: /);
    expect(panels[1]?.module).to.equal(undefined);
  });
});
