// Tries definitions on a server and returns its response.
import type { Status, StatusCause } from "@virtual-workspaces/apimachinery";
import { Caller, type Target } from "../../differential/caller.ts";
import type { CrdCase, Json } from "./definitions.ts";

/** Response of a server to a definition. */
export interface Verdict {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  /** Sorted, since Go iterates over maps in random order. */
  readonly causes?: readonly string[];
  readonly warnings?: readonly string[];
}

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Tries definitions on one server and removes them afterwards. */
export class Judge implements Disposable {
  readonly #caller: Caller;
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
    this.#caller = new Caller(target);
  }

  async judge({ crd, before }: CrdCase): Promise<Verdict> {
    if (before === undefined) return verdict(await this.#call("POST", `${CRDS}?dryRun=All&fieldValidation=Warn`, crd));
    const path = `${CRDS}/${nameOf(before)}`;
    await this.#call("POST", CRDS, before);
    try {
      await this.#until(path, ({ body }) => JSON.stringify(body).includes('"InitialNamesAccepted"'));
      // Kubernetes has a controller for each condition, so one may write in between.
      for (;;) {
        const { body } = await this.#call("GET", path);
        const metadata = { ...(crd["metadata"] as Json), resourceVersion: body.metadata.resourceVersion };
        const answer = await this.#call("PUT", `${path}?dryRun=All&fieldValidation=Warn`, { ...crd, metadata });
        if (answer.status !== 409) return verdict(answer);
      }
    } finally {
      // A definition that is deleted while Kubernetes still reads its objects for the first time may stay forever.
      await this.#until(objectsOf(before), ({ status }) => status !== 429);
      await this.#call("DELETE", path);
      await this.#until(path, ({ status }) => status === 404);
    }
  }

  [Symbol.dispose](): void {
    this.#caller[Symbol.dispose]();
  }

  async #call(method: string, path: string, body?: Json): Promise<Answered> {
    const headers = { ...this.#target.headers, "content-type": "application/json" };
    const {
      status,
      headers: said,
      text,
    } = await this.#caller.call({
      method,
      path,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status,
      warnings: [said["warning"] ?? []].flat().flatMap((one) => one.split(/, (?=299)/)),
      body: JSON.parse(text),
    };
  }

  async #until(path: string, is: (answer: Answered) => boolean): Promise<Answered> {
    for (const end = performance.now() + 60_000; ; ) {
      const answer = await this.#call("GET", path);
      if (is(answer)) return answer;
      if (performance.now() > end) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    }
  }
}

interface Answered {
  readonly status: number;
  readonly warnings: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  readonly body: any;
}

function nameOf(crd: Json): string {
  return (crd["metadata"] as { readonly name: string }).name;
}

/** Returns the path of the objects of a kind. */
function objectsOf({ spec }: Json): string {
  const { group, names, versions } = spec as {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  return `/apis/${group}/${versions.find(({ served }) => served)?.name}/${names.plural}`;
}

function verdict({ status: code, body, warnings }: Answered): Verdict {
  const warned = warnings.length === 0 ? {} : { warnings: [...warnings].sort() };
  if (code < 300) return { code, ...warned };
  const { reason, message = "", details } = body as Status;
  const causes = details?.causes?.map(causeText).sort();
  return { code, reason: reason ?? "", ...(causes === undefined ? { message } : { causes }), ...warned };
}

/** Omits values that Kubernetes prints with the field names of its own structs. */
function causeText({ reason, field, message = "" }: StatusCause): string {
  const short = message.replace(/^Invalid value: (?:\{"ID":|\[\{"Name":)[\s\S]*: (?=only |must )/, "Invalid value: ");
  return `${reason} ${field}: ${short}`;
}
