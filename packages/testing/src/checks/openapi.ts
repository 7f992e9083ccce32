import { excerpt, expectCode, expectOk, expectSame, fail } from "../assertions/expect.ts";
import { at, fieldsAt, isObject, type JsonObject, show } from "../assertions/json.ts";
import { groupVersionPath } from "../assertions/report.ts";
import { type Answer, mediaType } from "../http/answer.ts";
import {
  dereferenced,
  documentOf,
  GVK,
  isKind,
  readOpenApiIndex,
  resolve,
  schemaOf,
} from "../probe/openapi-documents.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import type { Check, ResourceProbe } from "./check.ts";

/** Requested by clients before kubectl 1.27, and still by some tools. */
const OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** T8: OpenAPI. */
export const openApiChecks: readonly Check[] = [
  {
    id: "T8.1",
    title: "the OpenAPI v3 index lists every served group and version, with a URL that contains its hash",
    protects: "kubectl explain and server-side validation do not know the resource",
    scope: "server",
    run: indexIsWhole,
  },
  {
    id: "T8.2",
    title: "a document under its hash may be cached forever; an old hash redirects to the new one",
    protects: "every kubectl call downloads megabytes of schema, or keeps an old one",
    scope: "server",
    run: async (probe) => {
      for (const { url } of await readOpenApiIndex(probe)) await cachedByHash(probe, url);
    },
  },
  {
    id: "T8.3",
    title: "every $ref of an OpenAPI document resolves",
    protects: "kubectl explain fails in the middle of a schema",
    scope: "server",
    run: async (probe) => {
      for (const { url } of await readOpenApiIndex(probe)) {
        const answer = await probe.get(url, { fromRoot: true });
        expectResolved(answer, expectOk(answer));
      }
    },
  },
  {
    id: "T8.4",
    title: "the kind has a schema that is found by group, version and kind, and that has its fields",
    protects: "kubectl explain and apply do not find the kind",
    scope: "resource",
    verbs: [],
    run: kindHasSchema,
  },
  {
    id: "T8.5",
    title: "clients that request OpenAPI v2 as protobuf get it",
    protects: "kubectl before 1.27, Helm and Argo CD cannot validate",
    scope: "server",
    run: async (probe) => {
      const answer = await probe.get("/openapi/v2", { headers: { accept: OPENAPI_V2 } });
      expectCode(answer, [200]);
      // The first field of the message is the version: tag 1, length 3, "2.0".
      if (!answer.body.subarray(0, 5).equals(Buffer.from("\n\x032.0")))
        fail(answer.request, 'a document that begins with swagger "2.0"', excerpt(answer));
      if (mediaType(answer) === "application/json") fail(answer.request, "a protobuf content type", mediaType(answer));
    },
  },
  {
    id: "T8.6",
    title: "the document has the resource's paths, with operations that name its kind",
    protects: "kubectl cannot find out which operations the kind supports",
    scope: "resource",
    verbs: ["list"],
    run: pathsAreThere,
  },
];

async function indexIsWhole(probe: ServerProbe): Promise<void> {
  const { request } = await probe.get("/openapi/v3");
  const urls = new Map((await readOpenApiIndex(probe)).map(({ name, url }) => [name, url]));
  const { resources } = probe.discovery;
  for (const name of new Set(resources.map((resource) => groupVersionPath(resource).slice(1)))) {
    const url = urls.get(name);
    if (url === undefined) fail(request, `a path ${name}`, [...urls.keys()].join(", "));
    if (!/[?&]hash=[^&]+/.test(url)) fail(request, `a serverRelativeURL with a hash for ${name}`, show(url));
  }
}

async function cachedByHash(probe: ServerProbe, url: string): Promise<void> {
  const answer = await probe.get(url, { fromRoot: true });
  expectCode(answer, [200]);
  const hash = new URLSearchParams(url.slice(url.indexOf("?"))).get("hash");
  const caching = answer.headers["cache-control"] ?? "";
  if (!caching.includes("immutable")) fail(answer.request, "Cache-Control: public, immutable", show(caching));
  const { etag } = answer.headers;
  if (etag !== undefined) {
    const again = await probe.get(url, { fromRoot: true, headers: { "if-none-match": etag } });
    expectCode(again, [304]);
  }
  const stale = await probe.get(url.replace(/hash=[^&]+/, "hash=0"), { fromRoot: true });
  expectCode(stale, [301, 302, 307, 308], ` to the document under ${hash}`);
  expectSame(stale.request, "Location", { expected: url, actual: stale.headers.location });
}

function expectResolved(answer: Answer, document: JsonObject): void {
  const pending: unknown[] = [document];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) pending.push(...value.filter((one) => one !== undefined));
    if (!isObject(value)) continue;
    const ref = value["$ref"];
    if (typeof ref === "string" && resolve(document, ref) === undefined)
      fail(answer.request, `something at ${ref}`, "nothing");
    pending.push(...Object.values(value).filter((one) => one !== undefined));
  }
}

async function kindHasSchema(probe: ResourceProbe): Promise<void> {
  const { answer, document } = await documentOf(probe);
  const { group, version, kind } = probe.resource;
  const schema = schemaOf(document, { group, version, kind });
  const others = fieldsAt(document, "components", "schemas").length;
  if (schema === undefined) fail(answer.request, `a schema with ${GVK} ${kind}`, `${others} other schemas`);
  for (const field of ["apiVersion", "kind", "metadata"]) {
    if (at(schema, "properties", field) === undefined)
      fail(
        answer.request,
        `a property ${field} of ${kind}`,
        fieldsAt(schema, "properties")
          .map(([name]) => name)
          .join(", "),
      );
  }
  const metadata = dereferenced(document, at(schema, "properties", "metadata"));
  if (at(metadata, "properties", "name") === undefined)
    fail(answer.request, "a schema of metadata with name", show(metadata));
}

async function pathsAreThere(probe: ResourceProbe): Promise<void> {
  const { answer, document } = await documentOf(probe);
  const { group, version, kind } = probe.resource;
  const paths = fieldsAt(document, "paths").map(([path]) => path);
  const operation = at(document, "paths", paths.find((path) => path.endsWith(probe.path)) ?? "", "get");
  if (operation === undefined) fail(answer.request, `the operation get of ${probe.path}`, paths.join(", "));
  const gvk = at(operation, GVK);
  if (!isKind(gvk, { group, version, kind })) fail(answer.request, `${GVK} ${kind} on get of ${probe.path}`, show(gvk));
}
