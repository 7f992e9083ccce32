import { excerpt, expectCode, expectJson, expectOk, expectSame, fail, skip } from "../assertions/expect.ts";
import { type JsonObject, show, textAt } from "../assertions/json.ts";
import { groupVersionPath } from "../assertions/report.ts";
import { type Answer, mediaType } from "../http/answer.ts";
import { type Advertised, type Discovery, readAggregated, readGroup, readLegacy } from "../probe/read-discovery.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import type { ServerCheck } from "./check.ts";
import { JSON_TYPE } from "./representations.ts";

const scope = "server";

/** T7: discovery. */
export const discoveryChecks: readonly ServerCheck[] = [
  {
    id: "T7.1",
    title: "every group and version in discovery has a document",
    protects: "one broken group stops the deletion of every namespace",
    scope,
    run: documentsAreThere,
  },
  {
    id: "T7.2",
    title: "aggregated discovery v2 agrees with legacy discovery",
    protects: "kubectl and controllers of different versions see different resources",
    scope,
    run: (probe) => aggregatedAgrees(probe, "v2"),
  },
  {
    id: "T7.3",
    title: "aggregated discovery v2beta1 agrees too, or the server chooses the next type in Accept",
    protects: "kubectl 1.26 to 1.29 finds no resources",
    scope,
    run: (probe) => aggregatedAgrees(probe, "v2beta1"),
  },
  {
    id: "T7.4",
    title: "aggregated discovery has an ETag that gets 304, only for the same content",
    protects: "clients load all of discovery every few minutes, or keep an outdated copy",
    scope,
    run: etag,
  },
  {
    id: "T7.8",
    title: "a trailing slash makes no difference",
    protects: "generated clients in Python, Java and JavaScript send the slash",
    scope,
    run: trailingSlashes,
  },
  {
    id: "T7.9",
    title: "/version returns the Kubernetes version",
    protects: "clients choose their requests by this version",
    scope,
    run: async (probe) => {
      const answer = await probe.get("/version");
      expectCode(answer, [200]);
      const version = expectJson(answer);
      for (const field of ["major", "minor", "gitVersion"]) {
        if (textAt(version, field) === "") fail(answer.request, `a ${field}`, show(version));
      }
    },
  },
];

async function documentsAreThere({ client }: ServerProbe): Promise<void> {
  const { groups } = await readLegacy(client);
  for (const group of groups) {
    if (group.versions.length === 0 || !group.versions.includes(group.preferred))
      fail(client.line("/apis", {}), `a preferred version among those of ${group.name}`, show(group));
    if (group.name === "") continue;
    const answer = await client.call(`/apis/${group.name}`);
    const document = expectOk(answer);
    expectSame(answer.request, "kind", { expected: "APIGroup", actual: document["kind"] });
    expectSame(answer.request, "the group in /apis: ", { expected: group, actual: readGroup(document) });
  }
}

async function aggregatedAgrees(probe: ServerProbe, version: "v2" | "v2beta1"): Promise<void> {
  const legacy = probe.discovery;
  const answers = await Promise.all(["/api", "/apis"].map((path) => aggregated(probe, { path, version })));
  const parts = answers.filter((answer) => answer.status !== 404).map((answer) => readVersion(answer, version));
  const request = answers.at(-1)?.request ?? probe.client.line("/apis", {});
  expectSame(request, "resources", {
    expected: byName(legacy.resources),
    actual: byName(parts.flatMap(({ resources }) => resources)),
  });
  expectSame(request, "groups", {
    expected: groupsByName(legacy),
    actual: groupsByName({ groups: parts.flatMap(({ groups }) => groups), resources: [] }),
  });
}

interface AskedFor {
  readonly path: string;
  readonly version: string;
  readonly etag?: string;
}

function aggregated(probe: ServerProbe, { path, version, etag: known }: AskedFor): Promise<Answer> {
  const accept = `${aggregatedType(version)},${JSON_TYPE}`;
  return probe.get(path, { headers: { accept, ...(known === undefined ? {} : { "if-none-match": known }) } });
}

function aggregatedType(version: string): string {
  return `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

/** Parses the document. A server without it answers with the next type in Accept, and its content type says so. */
function readVersion(answer: Answer, version: string): Discovery {
  const document = expectOk(answer);
  if (!isAggregated(answer, version)) {
    if (document["kind"] === "APIGroupDiscoveryList")
      fail(answer.request, `content type ${aggregatedType(version)}`, excerpt(answer));
    skip(`the server has no aggregated discovery ${version}: clients use the next type in Accept`);
  }
  expectType(answer, document, version);
  return readAggregated(document);
}

/** client-go distinguishes the documents by the parameters of the content type. */
function isAggregated({ headers }: Answer, version: string): boolean {
  const parameters = (headers["content-type"] ?? "").split(";").map((part) => part.trim());
  return ["g=apidiscovery.k8s.io", `v=${version}`, "as=APIGroupDiscoveryList"].every((part) =>
    parameters.includes(part),
  );
}

function expectType({ request }: Answer, { kind, apiVersion }: JsonObject, version: string): void {
  const expected = ["APIGroupDiscoveryList", `apidiscovery.k8s.io/${version}`];
  expectSame(request, "type", { expected, actual: [kind, apiVersion] });
}

function byName(resources: readonly Advertised[]): Readonly<Record<string, Advertised>> {
  const named = resources.map((resource) => [`${groupVersionPath(resource)}/${resource.name}`, resource] as const);
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function groupsByName({ groups }: Discovery): unknown {
  return groups.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function etag(probe: ServerProbe): Promise<void> {
  const apis = { path: "/apis", version: "v2" };
  const first = await aggregated(probe, apis);
  if (!isAggregated(first, "v2")) skip("the server has no aggregated discovery");
  const { etag: tag } = first.headers;
  if (tag === undefined) fail(first.request, "an ETag", "none");
  const second = await aggregated(probe, { ...apis, etag: tag });
  if (second.status === 200 && !second.body.equals(first.body)) skip("discovery changed during the check");
  expectCode(second, [304]);
  if (second.body.length > 0) fail(second.request, "no body", excerpt(second));
  const other = await aggregated(probe, { ...apis, etag: '"another"' });
  expectCode(other, [200], " for an ETag of another document");
  expectSame(other.request, "ETag of the same document", { expected: tag, actual: other.headers.etag });
}

async function trailingSlashes(probe: ServerProbe): Promise<void> {
  const { groups } = probe.discovery;
  const [group] = groups.filter(({ name }) => name !== "");
  const inGroup = group === undefined ? [] : [`/apis/${group.name}`, `/apis/${group.name}/${group.preferred}`];
  for (const path of ["/api", "/apis", "/version", ...inGroup]) {
    const without = await probe.get(path);
    if (without.status !== 200) continue;
    const answer = await probe.get(`${path}/`);
    expectCode(answer, [200], `, as without the slash`);
    if (mediaType(answer) !== mediaType(without)) fail(answer.request, mediaType(without), mediaType(answer));
    expectSame(answer.request, "the document without the slash: ", {
      expected: expectJson(without),
      actual: expectJson(answer),
    });
  }
}
