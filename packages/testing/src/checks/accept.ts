import { parse as parseYaml } from "yaml";
import { excerpt, expectCode, expectJson, expectOk, expectSame, expectStatus, fail } from "../assertions/expect.ts";
import { isObject, textAt } from "../assertions/json.ts";
import { type Answer, mediaType } from "../http/answer.ts";
import { WatchStream } from "../http/watch-stream.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import {
  CBOR,
  CBOR_SEQ,
  JSON_TYPE,
  METADATA_CLIENT,
  METADATA_CLIENT_LIST,
  PROTOBUF,
  TABLE,
  YAML_TYPE,
} from "./representations.ts";

const scope = "resource";
const NOT_ACCEPTABLE = { codes: [406], reasons: ["NotAcceptable"] };
/** Sends one request with an `Accept` header: a list, a get of the first object if there is one, or a short watch. */
type Asker = (accept: string) => Promise<Answer>;

/** T6: content negotiation by `Accept`. */
export const acceptChecks: readonly ResourceCheck[] = [
  {
    id: "T6.1",
    title: "JSON is the default, also for wildcards",
    protects: "curl and generated clients get a format they cannot read",
    scope,
    verbs: ["list"],
    run: jsonByDefault,
  },
  {
    id: "T6.2",
    title: "YAML and JSON have the same content",
    protects: "people and programs read different content",
    scope,
    verbs: ["list"],
    run: yamlAgrees,
  },
  {
    id: "T6.10",
    title: "clients that prefer protobuf and also accept JSON get an answer",
    protects: "garbage collection, quota and namespace deletion stop for the whole cluster",
    scope,
    verbs: ["list"],
    run: protobufOrJson,
  },
  {
    id: "T6.11",
    title: "a request for protobuf or CBOR alone gets that format or 406",
    protects: "clients decode JSON as protobuf, or retry an error",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      for (const ask of await askers(probe))
        for (const type of [PROTOBUF, CBOR]) expectThatOr406(await ask(type), type);
    },
  },
  {
    id: "T6.12",
    title: "an unknown media type gets 406",
    protects: "clients try to decode a format that they cannot read",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      for (const ask of await askers(probe)) expectCode(await ask("application/x-nobody-knows"), [406]);
    },
  },
  {
    id: "T6.13",
    title: "the q-values of Accept decide the order",
    protects: "clients get their last choice",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await expectType(probe, `${JSON_TYPE};q=0.1, ${YAML_TYPE};q=0.9`, YAML_TYPE);
      await expectType(probe, `${YAML_TYPE};q=0.1, ${JSON_TYPE};q=0.9`, JSON_TYPE);
    },
  },
  {
    id: "T6.14",
    title:
      "an unknown transformation is skipped in favor of the next one in Accept, and gets 406 when it is the only one",
    protects: "clients mistake a list for the Table that they requested",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await unknownTransformation(probe);
      await olderTable(probe);
    },
  },
  {
    id: "T6.15",
    title: "a watch as YAML gets 406",
    protects: "clients cannot separate the YAML documents of a stream",
    scope,
    verbs: ["watch"],
    run: async (probe) => {
      expectStatus(await watchAnswer(probe, YAML_TYPE), NOT_ACCEPTABLE);
    },
  },
];

async function jsonByDefault(probe: ResourceProbe): Promise<void> {
  const kinds = new Set<string>();
  for (const accept of ["*/*", JSON_TYPE, `text/html, ${JSON_TYPE};q=0.9, */*;q=0.8`, ""]) {
    const answer = await probe.answer({}, { accept });
    kinds.add(textAt(expectOk(answer), "kind"));
    if (kinds.size > 1) fail(answer.request, "the same kind in every form of JSON", [...kinds].join(" and "));
  }
  if (!probe.resource.verbs.includes("watch")) return;
  for (const accept of ["*/*", JSON_TYPE]) {
    using stream = await probe.watchAll({ timeoutSeconds: 1 }, { accept });
    if (mediaType(stream) !== JSON_TYPE) fail(stream.request, JSON_TYPE, mediaType(stream));
  }
}

async function yamlAgrees(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    for (const path of await readPaths(probe)) {
      const json = expectOk(await probe.get(path));
      const answer = await probe.get(path, { headers: { accept: YAML_TYPE } });
      expectCode(answer, [200]);
      if (mediaType(answer) !== YAML_TYPE) fail(answer.request, YAML_TYPE, excerpt(answer));
      const yaml: unknown = parseYaml(answer.body.toString("utf8"));
      expectSame(answer.request, "content as in JSON: ", { expected: unlisted(json), actual: unlisted(yaml) });
    }
  });
}

/** Removes the version of a list, because it changes when other clients write. */
function unlisted(document: unknown): unknown {
  if (!isObject(document) || !("items" in document)) return document;
  const { metadata: _, ...rest } = document;
  return rest;
}

async function protobufOrJson(probe: ResourceProbe): Promise<void> {
  const fallbacks = [`${PROTOBUF},${JSON_TYPE}`, `${PROTOBUF}, ${CBOR};q=0.5, ${JSON_TYPE};q=0.1`];
  for (const ask of await askers(probe)) for (const accept of fallbacks) expectEither(await ask(accept));
  expectEither(await probe.answer({}, { accept: METADATA_CLIENT_LIST }));
  if (probe.resource.verbs.includes("watch")) expectEither(await watchAnswer(probe, METADATA_CLIENT));
}

function expectEither(answer: Answer): void {
  expectCode(answer, [200]);
  if (![PROTOBUF, CBOR, CBOR_SEQ, JSON_TYPE].includes(mediaType(answer)))
    fail(answer.request, "protobuf or JSON", excerpt(answer));
  if (mediaType(answer) === JSON_TYPE && answer.body.length > 0) expectJson(answer);
}

function expectThatOr406(answer: Answer, type: string): void {
  expectCode(answer, [200, 406]);
  const got = mediaType(answer);
  const isWatch = got === CBOR_SEQ && type === CBOR;
  if (answer.status === 200 && got !== type && !isWatch) fail(answer.request, `${type}, or 406`, excerpt(answer));
  // Kubernetes encodes the Status of such a 406 as protobuf, which this suite does not read.
  if (answer.status === 406 && got !== type) expectStatus(answer, NOT_ACCEPTABLE);
}

async function unknownTransformation(probe: ResourceProbe): Promise<void> {
  const unknown = TABLE.replace("v=v1", "v=v99");
  expectStatus(await probe.answer({}, { accept: unknown }), NOT_ACCEPTABLE);
  const answer = await probe.answer({}, { accept: `${unknown},${JSON_TYPE}` });
  const kind = textAt(expectOk(answer), "kind");
  if (kind === "Table") fail(answer.request, "the list as JSON, the next in Accept", "a Table");
}

/** kubectl before 1.15 requested this form, and newer versions still accept it as a second choice. */
async function olderTable(probe: ResourceProbe): Promise<void> {
  const answer = await probe.answer({}, { accept: TABLE.replace("v=v1", "v=v1beta1") });
  if (answer.status === 406) return;
  const { kind, apiVersion } = expectOk(answer);
  expectSame(answer.request, "type", { expected: ["Table", "meta.k8s.io/v1beta1"], actual: [kind, apiVersion] });
}

async function expectType(probe: ResourceProbe, accept: string, type: string): Promise<void> {
  const answer = await probe.answer({}, { accept });
  expectCode(answer, [200]);
  if (mediaType(answer) !== type) fail(answer.request, type, excerpt(answer));
}

/** Returns the requests for a resource that negotiate independently. */
async function askers(probe: ResourceProbe): Promise<readonly Asker[]> {
  const paths = await readPaths(probe);
  const reads = paths.map(
    (path): Asker =>
      (accept) =>
        probe.get(path, { headers: { accept } }),
  );
  return probe.resource.verbs.includes("watch") ? [...reads, (accept) => watchAnswer(probe, accept)] : reads;
}

/** Returns the paths of the collection and of its first object, if there is one. */
async function readPaths(probe: ResourceProbe): Promise<readonly string[]> {
  const [first] = (await probe.list()).items;
  if (first === undefined || !probe.resource.verbs.includes("get")) return [probe.path];
  const { namespace = "", name = "" } = first.metadata;
  return [probe.path, probe.pathOf({ namespace, name })];
}

/** Opens a watch and returns its status and headers as a complete answer. */
async function watchAnswer(probe: ResourceProbe, accept: string): Promise<Answer> {
  const opened = await probe.client.watch(probe.path, {
    query: { watch: "true", timeoutSeconds: 1 },
    headers: { accept },
  });
  if (!(opened instanceof WatchStream)) return opened;
  using stream = opened;
  const { request, headers } = stream;
  return { request, headers, status: 200, body: Buffer.alloc(0) };
}
