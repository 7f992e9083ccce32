// Which of the URLs of an object a shard asks at: the one that is for it, or none. kcp's own cases, and what it takes for a match.
import { expect } from "chai";
import { echo, failed, Kept, root, WIDGETS } from "./support/kept.ts";

const SHARD = "/clusters/root/apis/core.kcp.io/v1alpha1/shards/root";

describe("the endpoint of a view that keeps a resource", function () {
  this.timeout(30_000);
  let kept: Kept;
  let base: string;

  before(async () => {
    kept = await Kept.start({ virtualWorkspaces: [echo("here"), echo("there"), echo("far")] });
    base = `${kept.server.url}/services`;
    const labels = { metadata: { labels: { region: "eu" } } };
    const headers = { "content-type": "application/merge-patch+json" };
    expect((await kept.server.send(`PATCH ${SHARD}`, labels, { ...root, headers })).status).to.equal(200);
  });

  after(() => kept[Symbol.asyncDispose]());

  const at = (view: string, shards?: object): object => ({ url: `${base}/${view}`, ...(shards && { shards }) });
  const foreign = (host: string, shards?: object): object => ({
    url: `https://${host}/services/a`,
    ...(shards && { shards }),
  });
  const labelled = (matchLabels: object): object => ({ selector: { matchLabels } });
  const ALL = { matchAll: true };

  const CHOSEN: readonly (readonly [string, string, () => readonly object[]])[] = [
    ["is its own without selectors", "here", () => [foreign("shard-0.example.com"), at("here")]],
    ["is one for every shard", "here", () => [at("here", ALL)]],
    ["is one that names it", "here", () => [at("here", labelled({ name: "root" }))]],
    [
      "is its region's rather than everybody's",
      "there",
      () => [at("here", ALL), at("there", labelled({ region: "eu" }))],
    ],
    [
      "is its own rather than its region's",
      "far",
      () => [at("there", labelled({ region: "eu" })), at("far", labelled({ name: "root", region: "eu" }))],
    ],
    ["is everybody's outside of a region", "here", () => [at("here", ALL), at("there", labelled({ region: "us" }))]],
    ["is everybody's rather than one that says nothing", "there", () => [at("here"), at("there", ALL)]],
    [
      "is one by an expression",
      "here",
      () => [at("here", { selector: { matchExpressions: [{ key: "name", operator: "NotIn", values: ["x"] }] } })],
    ],
  ];
  for (const [title, view, endpoints] of CHOSEN)
    it(title, async () => {
      await kept.says(...endpoints());
      const { status, body, text } = await kept.in.get(WIDGETS);
      expect([status, body.view], text).to.deep.equal([200, view]);
    });

  const REFUSED: readonly (readonly [string, RegExp, () => readonly unknown[]])[] = [
    ["none that selects another shard", /none of the endpoints selects/, () => [at("here", labelled({ name: "x" }))]],
    [
      "none where others say whose they are",
      /none of the/,
      () => [at("here"), at("there", labelled({ region: "us" }))],
    ],
    [
      "no guess between two that are as close",
      /equally well/,
      () => [at("here", labelled({ region: "eu" })), at("there", labelled({ name: "root" }))],
    ],
    [
      "no guess about one that says both",
      /both shards.matchAll and shards.selector/,
      () => [at("here", { ...ALL, selector: {} })],
    ],
    ["no lone URL of somebody else", /no endpoint begins with/, () => [foreign("shard-0.example.com")]],
    [
      "no URL that only begins with the same letters",
      /no endpoint begins with/,
      () => [{ url: `${kept.server.url}0/services/here` }],
    ],
    ["no guess between two of its own", /several endpoints begin/, () => [at("here"), at("there")]],
    [
      "no shards that are no object",
      /status.endpoints\[0\].shards is not an object/,
      () => [{ ...at("here"), shards: "all" }],
    ],
    [
      "no selector that is none",
      /matchLabels is not an object/,
      () => [at("here", { selector: { matchLabels: "name" } })],
    ],
    [
      "no operator that is none",
      /Nearly/,
      () => [at("here", { selector: { matchExpressions: [{ key: "a", operator: "Nearly" }] } })],
    ],
    ["no entry without a URL", /status.endpoints\[0\].url is not a string/, () => [{}]],
    ["no URL that is none", /the URL of its endpoint is invalid/, () => [{ url: "here", shards: ALL }]],
    ["no URL with a query", /more than a host and a path/, () => [{ url: `${base}/here?x=`, shards: ALL }]],
    [
      "no way out of /services of its own server",
      /asks no other/,
      () => [{ url: `${base}/../clusters/root`, shards: ALL }],
    ],
    ["nobody elsewhere without a certificate", /--shard-client-cert-file/, () => [foreign("127.0.0.1:9", ALL)]],
  ];
  for (const [title, message, endpoints] of REFUSED)
    it(`is ${title}`, async () => {
      await kept.says(...endpoints());
      const answer = await kept.in.get(WIDGETS);
      const { code, reason, message: said } = failed(answer);
      expect([code, reason]).to.deep.equal([500, "InternalError"]);
      expect(said)
        .to.match(message)
        .and.match(/error resolving resource widgets\.example\.dev/);
      expect(said, "where it is").to.not.match(/127\.0\.0\.1|shard-0/);
    });

  it("is for its owner to say: without any, whoever asks is told whom to ask", async () => {
    for (const status of [null, {}, { endpoints: null }]) {
      await kept.shelf(status);
      expect(failed(await kept.in.get(WIDGETS)).message).to.equal(
        "Internal error occurred: error resolving resource widgets.example.dev; please contact APIExport owner to resolve",
      );
    }
    await kept.shelf({ endpoints: "none" });
    expect(failed(await kept.in.get(WIDGETS)).message).to.include("status.endpoints is not a list");
  });
});
