import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Asker } from "../../hooks/hooks.ts";
import { pathInfo, type RequestInfo } from "../../request/request-info.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { RequestOptions, Scope, Storage, WriteOptions } from "../../storage.ts";
import { mayReview, type NonResourceRule, type ResourceRule, type Rules } from "../authorization.ts";
import type { RulesContent } from "./content.ts";
import { askerOf, type Questions, resourceInfo } from "./questions.ts";

/** Subject of a survey. */
export interface Surveyed {
  readonly asker: Asker;
  /** Resources that are served to the user. */
  readonly list: readonly ServedResource[];
  readonly namespace: string;
}

/** Non-resource paths that each view has. */
const PATHS: readonly string[] = [
  "/api",
  "/apis",
  "/healthz",
  "/livez",
  "/openapi/v2",
  "/openapi/v3",
  "/readyz",
  "/version",
];
const METHODS: readonly string[] = ["get", "head"];

const WHY =
  "the authorizer of this view cannot list its rules: each verb of each served resource was checked, " +
  "so permissions limited to object names are missing";

/** Finds the permissions of a user by authorizing many requests. */
class RuleSurvey {
  readonly #questions: Questions;
  readonly #surveyed: Surveyed;

  constructor(questions: Questions, surveyed: Surveyed) {
    this.#questions = questions;
    this.#surveyed = surveyed;
  }

  /** Returns the reviews that the user may create whatever the view's rule decides. */
  reviews(): readonly ResourceRule[] {
    const { asker, list } = this.#surveyed;
    if (!mayReview(asker.user).allowed) return [];
    return grouped(
      this.#questions
        .reviews(list)
        .map(({ definition: { group, plural: resource }, verbs }) => ({ group, resource, verbs })),
    );
  }

  /** Authorizes each verb on each resource, subresource and path. @param failure returns the text for a failed check */
  async everything(failure: (error: unknown) => string): Promise<Rules> {
    const errors = new Map<string, string>();
    const told = (error: unknown): void => {
      const text = String(error);
      if (!errors.has(text)) errors.set(text, failure(error));
    };
    const found: Found[] = [];
    // One resource at a time, so that an authorizer with a remote backend does not get thousands of requests at once.
    for (const target of this.#targets()) {
      const infos = target.verbs.map((verb) => resourceInfo({ ...target, verb }, this.#surveyed.list));
      found.push({ ...target, verbs: await this.#allowed(infos, told) });
    }
    const methods = new Map<string, readonly string[]>();
    for (const path of PATHS)
      methods.set(
        path,
        await this.#allowed(
          METHODS.map((method) => pathInfo(method, path)),
          told,
        ),
      );
    const why = [WHY, ...new Set(errors.values())].join("; ");
    return { resourceRules: grouped(found), nonResourceRules: paths(methods), incomplete: true, evaluationError: why };
  }

  *#targets(): Iterable<Target> {
    const { list, namespace } = this.#surveyed;
    for (const { definition, verbs, subresources } of list) {
      const { group, version, plural: resource } = definition;
      yield { group, version, namespace, resource, subresource: "", verbs };
      for (const { name: subresource, verbs: own } of subresources)
        yield { group, version, namespace, resource, subresource, verbs: own };
    }
  }

  /** Returns the verbs of the allowed requests. */
  async #allowed(infos: readonly RequestInfo[], told: (error: unknown) => void): Promise<readonly string[]> {
    const { asker, list } = this.#surveyed;
    asker.signal.throwIfAborted();
    const decisions = await Promise.allSettled(infos.map(async (info) => this.#questions.decide(asker, info, list)));
    return decisions.flatMap((decision, at) => {
      if (decision.status === "fulfilled") return decision.value.allowed ? (infos[at] as RequestInfo).verb : [];
      told(decision.reason);
      return [];
    });
  }
}

interface Target {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly verbs: readonly string[];
}

interface Found {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
}

/** Merges all resources of a group with the same verbs into one rule. Versions share rules, as in Kubernetes. */
function grouped(found: readonly Found[]): readonly ResourceRule[] {
  const verbs = new Map<string, { group: string; name: string; verbs: Set<string> }>();
  for (const { group, resource, subresource = "", verbs: own } of found) {
    const name = subresource === "" ? resource : `${resource}/${subresource}`;
    const known = verbs.get(`${group}/${name}`);
    if (known === undefined) verbs.set(`${group}/${name}`, { group, name, verbs: new Set(own) });
    else for (const verb of own) known.verbs.add(verb);
  }
  const rules = new Map<string, { verbs: string[]; apiGroups: string[]; resources: string[] }>();
  for (const { group, name, verbs: own } of verbs.values()) {
    if (own.size === 0) continue;
    const key = [group, ...[...own].sort()].join(" ");
    const rule = rules.get(key);
    if (rule === undefined) rules.set(key, { verbs: [...own], apiGroups: [group], resources: [name] });
    else rule.resources.push(name);
  }
  return [...rules.values()];
}

/** Does the same for paths. */
function paths(methods: ReadonlyMap<string, readonly string[]>): readonly NonResourceRule[] {
  const rules = new Map<string, { verbs: readonly string[]; nonResourceURLs: string[] }>();
  for (const [path, verbs] of methods) {
    if (verbs.length === 0) continue;
    const rule = rules.get(verbs.join(" "));
    if (rule === undefined) rules.set(verbs.join(" "), { verbs, nonResourceURLs: [path] });
    else rule.nonResourceURLs.push(path);
  }
  return [...rules.values()];
}

type Review = ObjectOf<RulesContent>;

/** Lists what a user may do: the rules of the view's authorizer or its decisions for everything that is served. */
export class RulesReviews implements Storage<Review> {
  readonly lifecycle = "storage";
  readonly #questions: Questions;

  constructor(questions: Questions) {
    this.#questions = questions;
  }

  async create(scope: Scope, { apiVersion, kind, spec }: Review, options: WriteOptions): Promise<Review> {
    const namespace = spec?.namespace ?? "";
    if (namespace === "") throw ApiError.badRequest("no namespace on request");
    const status = await this.#rules(askerOf(scope, options), namespace, options);
    return { apiVersion, kind, metadata: {}, spec: {}, status: status };
  }

  async #rules(asker: Asker, namespace: string, options: RequestOptions): Promise<Rules> {
    try {
      const list = await this.#questions.served(asker);
      const survey = new RuleSurvey(this.#questions, { asker, list, namespace });
      const listed = await this.#questions.rules(asker, namespace);
      const rules = listed ?? (await survey.everything((error) => this.#questions.failure(error, options)));
      return { ...rules, resourceRules: [...survey.reviews(), ...rules.resourceRules] };
    } catch (error) {
      const evaluationError = this.#questions.failure(error, options);
      return { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
    }
  }
}
