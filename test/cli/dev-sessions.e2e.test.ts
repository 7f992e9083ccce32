// Sessions of the console of `dev`: they and one-time links outlive the process that a save replaces.
import { statSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../tools/console.mjs";
import { cli, Dev } from "./support/dev.ts";
import { viewText } from "./support/views.ts";

const MARK = { "x-requested-with": "virtual-workspaces-console" };
const SESSION = "/console/session";
const NOTES = "/clusters/root/apis/test.dev/v1/notes";

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request of the page, without a client certificate. */
async function call(url: string, { method = "GET", headers = {}, body }: Call = {}) {
  const req = request(url, { method, agent: false, rejectUnauthorized: false, headers: { ...MARK, ...headers } });
  req.end(body === undefined ? undefined : JSON.stringify(body));
  const res = await new Promise<import("node:http").IncomingMessage>((resolve, reject) =>
    req.once("response", resolve).once("error", reject),
  );
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  const pairs = (res.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0] ?? "");
  return { status: res.statusCode, text, cookie: pairs.filter((pair) => !pair.endsWith("=")).join("; ") };
}

describe("sessions of the console of virtual-workspaces dev", function () {
  this.timeout(60_000);
  before(() => ensureConsole());

  const codeIn = (text: string): string => /#code=([\w-]{43})$/m.exec(text)?.[1] ?? "";
  const signIn = (dev: Dev, code: string) => call(dev.url + SESSION, { method: "POST", body: { code } });
  const save = async (dev: Dev, text: string, times: number): Promise<void> => {
    dev.save("note.ts", viewText({ text }));
    await dev.until(/^Reloaded in /m, times);
  };

  it("begin once by a link and end for good, whatever process serves", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    const code = codeIn(dev.text);
    const { status, cookie } = await signIn(dev, code);
    expect(status).to.equal(204);
    expect((await call(dev.url + NOTES, { headers: { cookie } })).status).to.equal(200);
    await save(dev, "second", 1);
    expect((await signIn(dev, code)).status, "the link is used").to.equal(401);
    expect((await call(dev.url + NOTES, { headers: { cookie } })).text).to.include("second");
    expect((await call(dev.url + SESSION, { method: "DELETE", headers: { cookie } })).status).to.equal(204);
    await save(dev, "third", 2);
    expect((await call(dev.url + SESSION, { headers: { cookie } })).status, "the session has ended").to.equal(401);
    expect(statSync(join(dev.state, ".console-session-key")).mode & 0o777).to.equal(0o600);
  });

  it("are those of another user of the kubeconfig by virtual-workspaces console", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    const printed = await cli("console", "--kubeconfig", dev.home.kubeconfig, "--context=guest");
    expect([printed.code, printed.stderr]).to.deep.equal([0, ""]);
    const { cookie } = await signIn(dev, codeIn(printed.stdout));
    const shown = await call(dev.url + SESSION, { headers: { cookie } });
    expect(JSON.parse(shown.text).user).to.deep.equal({ username: "guest", groups: ["system:authenticated"] });
  });

  it("are not there with --console=false, and neither are tokens", async () => {
    await using dev = await Dev.start({
      files: { "note.ts": viewText() },
      flags: ["--port", "0", "--console=false"],
    });
    expect(dev.text).not.to.include("#code=");
    expect((await call(`${dev.url}/console/`)).status).to.be.oneOf([401, 403, 404]);
    expect((await call(dev.url + NOTES)).status).to.be.oneOf([401, 403, 404]);
    const { code, stderr } = await cli("console", "--kubeconfig", dev.home.kubeconfig);
    expect([code, stderr]).to.deep.equal([
      1,
      "virtual-workspaces console: the user of the kubeconfig has no token: use a user with one, or --token\n",
    ]);
  });

  it("leave the path /clusters to a view that is there itself", async () => {
    const own = 'prefix: "/clusters",';
    await using dev = await Dev.start({ files: { "note.ts": viewText({ path: "/:cluster", more: own }) } });
    const { cookie } = await signIn(dev, codeIn(dev.text));
    expect((await call(dev.url + NOTES, { headers: { cookie } })).status).to.equal(200);
    const own404 = await call(`${dev.url}/clusters/root/apis/core.kcp.io/v1alpha1/logicalclusters`, {
      headers: { cookie },
    });
    expect(own404.status).to.equal(404);
  });
});
