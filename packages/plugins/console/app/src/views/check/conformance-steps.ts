import { resourcePath } from "../../api/base.ts";
import { readResources } from "../../api/discovery.ts";
import { texts } from "../texts.ts";
import { firstState, jsonOf, messageOf, probe } from "./probe.ts";
import { watchedOf } from "./server-steps.ts";
import { Skipped, type Step, StepFailure } from "./step.ts";

const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
/** A name that no object has: names of objects that the suite makes begin otherwise. */
const NO_NAME = "conformance-no-such-object";

interface Body {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly unknown[];
  readonly items?: readonly unknown[];
  readonly paths?: Readonly<Record<string, unknown>>;
}

/**
 * A small part of the conformance suite: reads of a view as the signed-in user, by the groups of the suite. It writes nothing, and needs no
 * other user. The command runs all of it.
 */
export function conformanceSteps(path: string): readonly Step[] {
  const words = texts.conformance;
  /** Path of a collection, and its group and version. */
  let at: { readonly path: string; readonly version: string; readonly name: string } | undefined;
  const collection = () => {
    if (at === undefined) throw new Skipped(words.noResource);
    return at;
  };
  const list = async (signal: AbortSignal, accept = "application/json", parameters = {}): Promise<Body> => {
    const answer = await probe(collection().path, { signal, accept, parameters });
    if (answer.status === 403) throw new Skipped(messageOf(answer));
    if (answer.status !== 200) throw new StepFailure(messageOf(answer), words.remedy);
    return jsonOf<Body>(answer.text) ?? {};
  };
  const expect = (isRight: boolean, found: string): void => {
    if (!isRight) throw new StepFailure(found, words.remedy);
  };
  return [
    {
      title: words.discovery,
      async run(signal) {
        const answer = await probe(`${path}/apis`, { signal });
        if (answer.status === 403) throw new Skipped(messageOf(answer));
        if (answer.status !== 200) throw new StepFailure(messageOf(answer), words.remedy);
        const resources = await readResources(path, signal);
        const kind = watchedOf(resources);
        if (kind !== undefined) {
          const version = kind.group === "" ? `api/${kind.version}` : `apis/${kind.group}/${kind.version}`;
          at = { path: `${path}/${resourcePath(kind)}`, version, name: kind.resource };
        }
        return texts.run.serves(resources.length);
      },
    },
    {
      title: words.openapi,
      async run(signal) {
        const { version } = collection();
        const answer = await probe(`${path}/openapi/v3`, { signal });
        if (answer.status === 403) throw new Skipped(messageOf(answer));
        const { paths = {} } = jsonOf<Body>(answer.text) ?? {};
        expect(version in paths, words.noDocument(version));
        return version;
      },
    },
    {
      title: words.table,
      async run(signal) {
        const { kind, columnDefinitions = [] } = await list(signal, TABLE, { limit: 1 });
        expect(kind === "Table" && columnDefinitions.length > 0, words.notKind("Table", kind));
        return words.columns(columnDefinitions.length);
      },
    },
    {
      title: words.metadata,
      async run(signal) {
        const { kind = "" } = await list(signal, METADATA, { limit: 1 });
        expect(kind === "PartialObjectMetadataList", words.notKind("PartialObjectMetadataList", kind));
        return kind;
      },
    },
    {
      title: words.pages,
      async run(signal) {
        const first = await list(signal, undefined, { limit: 1 });
        const next = first.metadata?.continue ?? "";
        if (next === "") throw new Skipped(words.onePage);
        const second = await list(signal, undefined, { limit: 1, continue: next });
        const [one, other] = [first.metadata?.resourceVersion, second.metadata?.resourceVersion];
        expect(one === other, words.otherVersion(String(one), String(other)));
        return words.sameVersion;
      },
    },
    {
      title: words.errors,
      async run(signal) {
        const answer = await probe(`${collection().path}/${NO_NAME}`, { signal });
        const { kind, code, reason = "" } = jsonOf<Body>(answer.text) ?? {};
        expect(kind === "Status" && code === answer.status, words.notKind("Status", kind));
        if (answer.status === 403) throw new Skipped(messageOf(answer));
        expect(answer.status === 404 || answer.status === 405, messageOf(answer));
        return `${code} ${reason}`;
      },
    },
    {
      title: words.watchList,
      async run(signal) {
        const first = await firstState(collection().path, signal);
        if (typeof first === "string") throw new StepFailure(words.noBookmark(first), words.remedy);
        return `${collection().name}: ${first.objects}`;
      },
    },
  ];
}
