// The endpoint that a shard chooses from the URLs of an object: the one for it, or none. The cases are kcp's, and further
// rules of a match.
import { expect } from "chai";
import { echo, failed, Kept, root, WIDGETS } from "./support/kept.ts";

const SHARD = "/clusters/root/apis/core.kcp.io/v1alpha1/shards/root";

describe("the endpoint of a view that stores a resource", function () {
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
    ["is below the shard's own URL without selectors", "here", () => [foreign("shard-0.example.com"), at("here")]],
    ["can be one for every shard", "here", () => [at("here", ALL)]],
    ["can be one that selects the shard by name", "here", () => [at("here", labelled({ name: "root" }))]],
    [
      "is its region's rather than the one for every shard",
      "there",
      () => [at("here", ALL), at("there", labelled({ region: "eu" }))],
    ],
    [
      "is the more specific one rather than its region's",
      "far",
      () => [at("there", labelled({ region: "eu" })), at("far", labelled({ name: "root", region: "eu" }))],
    ],
    [
      "is the one for every shard outside of a region",
      "here",
      () => [at("here", ALL), at("there", labelled({ region: "us" }))],
    ],
    ["is the one for every shard rather than one without selectors", "there", () => [at("here"), at("there", ALL)]],
    [
      "can be one selected by an expression",
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
    ["one that selects another shard", /none of the endpoints selects/, () => [at("here", labelled({ name: "x" }))]],
    [
      "one without selectors where others have them",
      /none of the/,
      () => [at("here"), at("there", labelled({ region: "us" }))],
    ],
    [
      "two that are equally specific",
      /equally well/,
      () => [at("here", labelled({ region: "eu" })), at("there", labelled({ name: "root" }))],
    ],
    [
      "one with both matchAll and a selector",
      /both shards.matchAll and shards.selector/,
      () => [at("here", { ...ALL, selector: {} })],
    ],
    [
      "another shard's URL, even if it is the only one",
      /no endpoint begins with/,
      () => [foreign("shard-0.example.com")],
    ],
    [
      "a URL that only begins with the same letters",
      /no endpoint begins with/,
      () => [{ url: `${kept.server.url}0/services/here` }],
    ],
    ["two below the shard's own URL", /several endpoints begin/, () => [at("here"), at("there")]],
    [
      "shards that are not an object",
      /status.endpoints\[0\].shards is not an object/,
      () => [{ ...at("here"), shards: "all" }],
    ],
    ["an invalid selector", /matchLabels is not an object/, () => [at("here", { selector: { matchLabels: "name" } })]],
    [
      "an invalid operator",
      /Nearly/,
      () => [at("here", { selector: { matchExpressions: [{ key: "a", operator: "Nearly" }] } })],
    ],
    ["an entry without a URL", /status.endpoints\[0\].url is not a string/, () => [{}]],
    ["an invalid URL", /the URL of its endpoint is invalid/, () => [{ url: "here", shards: ALL }]],
    ["a URL with a query", /more than a host and a path/, () => [{ url: `${base}/here?x=`, shards: ALL }]],
    [
      "a URL of its own server outside of /services",
      /has no certificate for it/,
      () => [{ url: `${base}/../clusters/root`, shards: ALL }],
    ],
    ["another server without a client certificate", /--shard-client-cert-file/, () => [foreign("127.0.0.1:9", ALL)]],
  ];
  for (const [title, message, endpoints] of REFUSED)
    it(`is never ${title}`, async () => {
      await kept.says(...endpoints());
      const answer = await kept.in.get(WIDGETS);
      const { code, reason, message: said } = failed(answer);
      expect([code, reason]).to.deep.equal([500, "InternalError"]);
      expect(said)
        .to.match(message)
        .and.match(/error resolving resource widgets\.example\.dev/);
      expect(said, "where it is").to.not.match(/127\.0\.0\.1|shard-0/);
    });

  it("is its publisher's task: without one, the error tells whom to contact", async () => {
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
