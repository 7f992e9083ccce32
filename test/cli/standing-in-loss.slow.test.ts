// The upstream of `virtual-workspaces` fails: it hangs, its process dies, and it returns with its data or without. The server
// reports this meanwhile, and needs no restart afterwards.
import { request } from "node:https";
import { expect } from "chai";
import { until } from "../_support/until.ts";
import { type Exported, exportWidgets, makeWidget } from "./support/exported.ts";
import { type Answer, Apart, ask } from "./support/views-of-workspaces.ts";

const WIDGETS = "apis/example.dev/v1/widgets";

describe("virtual-workspaces whose upstream fails", function () {
  this.timeout(240_000);
  let apart: Apart;
  let exported: Exported;

  before(async () => {
    apart = await Apart.ready({ asKcp: true });
    exported = await exportWidgets(apart.shard);
  });

  after(() => apart?.[Symbol.asyncDispose]());

  /** Sends a request as a master, whom the process authenticates itself. */
  async function asked(path: string): Promise<Answer> {
    const options = { ca: apart.authority.ca, ...apart.authority.client("shard", ["system:masters"]) };
    return ask(`https://127.0.0.1:${apart.views.port}${path}`, options);
  }

  const list = async (): Promise<Answer> => asked(`/services/${exported.path}/*/${WIDGETS}`);
  const isReady = async (): Promise<boolean> => (await asked("/readyz/apiexport")).code === 200;
  const back = (): Promise<unknown> => until(async () => (await list()).code === 200, { what: "list" });

  /** Collects the events of a watch, which is not reopened. */
  function watched(): { readonly text: string; readonly ended: boolean } & Disposable {
    const path = `/services/${exported.path}/*/${WIDGETS}?watch=true&timeoutSeconds=600`;
    const pair = apart.authority.client("shard", ["system:masters"]);
    const seen = { text: "", ended: false, [Symbol.dispose]: () => void req.destroy() };
    const options = { ca: apart.authority.ca, ...pair, agent: false };
    const req = request(`https://127.0.0.1:${apart.views.port}${path}`, options, (res) => {
      res.setEncoding("utf8").on("data", (piece: string) => {
        seen.text += piece;
      });
      res.on("end", () => {
        seen.ended = true;
      });
      res.on("error", () => undefined);
    });
    req.on("error", () => undefined).end();
    return seen;
  }

  it("names the unready view while the upstream hangs, answers 503, and continues where it was", async () => {
    using watch = watched();
    await until(async () => watch.text.includes("cog") || isReady().then(() => false), { what: "first event" });
    apart.shard.signal("SIGSTOP");
    try {
      const first = await list();
      expect([first.code, JSON.parse(first.body).kind]).to.deep.equal([503, "Status"]);
      expect(await isReady()).to.equal(false);
      expect((await asked("/readyz")).code).to.equal(503);
      await until(async () => /not ready/.test((await list()).body), { what: "the verdict" });
      const began = performance.now();
      const { code, body } = await list();
      expect([code, JSON.parse(body).reason]).to.deep.equal([503, "ServiceUnavailable"]);
      expect(body, "where they are").to.not.match(/127\.0\.0\.1/);
      expect(performance.now() - began).to.be.lessThan(2_000);
      expect((await asked("/livez")).code).to.equal(200);
    } finally {
      apart.shard.signal("SIGCONT");
    }
    await back();
    expect(await isReady()).to.equal(true);
    await makeWidget(apart.shard, "after-silence");
    await until(async () => watch.text.includes("after-silence") || isReady().then(() => false), { what: "event" });
    expect(watch.ended).to.equal(false);
  });

  it("answers 503 at once while the upstream is down, and serves its objects when it is back", async () => {
    await apart.shard.end("SIGKILL");
    const began = performance.now();
    const { code } = await list();
    expect(code).to.equal(503);
    expect(performance.now() - began).to.be.lessThan(5_000);
    await until(async () => !(await isReady()), { what: "verdict", within: 5_000 });
    await apart.startAgain();
    await back();
    await until(isReady, { what: "readiness" });
    await makeWidget(apart.shard, "after-death");
    expect((await list()).body)
      .to.include('"cog"')
      .and.include("after-death");
  });

  it("shows only new objects after the upstream returns without its data", async () => {
    using watch = watched();
    await until(async () => watch.text.includes("cog") || isReady().then(() => false), { what: "first event" });
    await apart.shard.end("SIGKILL");
    await apart.startAgain({ empty: true });
    const before = exported;
    exported = await exportWidgets(apart.shard);
    await back();
    expect((await list()).body)
      .to.include('"cog"')
      .and.not.include("after-death");
    expect(exported.provider).to.not.equal(before.provider);
    await until(async () => watch.ended || /"DELETED"|"code":410/.test(watch.text) || isReady().then(() => false), {
      what: "end of the watch, or news that all is gone",
    });
    const { code } = await asked(`/services/${before.path}/*/${WIDGETS}`);
    expect(code).to.be.oneOf([403, 404]);
  });

  it("is the same process after all that", () => {
    expect(apart.views.running).to.equal(true);
    expect(apart.views.stderr).to.not.match(/[Uu]nhandled|MaxListeners/);
  });
});
