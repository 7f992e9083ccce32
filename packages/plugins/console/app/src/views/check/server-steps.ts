import { DOCTOR_TEXTS, indexLags, readinessChecks } from "../../../../src/doctor-texts.ts";
import { apiUrl, resourcePath } from "../../api/base.ts";
import { type Resource, readResources } from "../../api/discovery.ts";
import type { User } from "../../api/session.ts";
import { texts } from "../texts.ts";
import { type Answer, firstState, jsonOf, messageOf, PATIENCE, probe } from "./probe.ts";
import { Skipped, type Step, StepFailure } from "./step.ts";

/** Difference of clocks above which tokens and certificates may not be valid yet, or not any more, in milliseconds. */
const MOST_SKEW = 30_000;

const reached: Step = {
  title: texts.run.reached,
  async run(signal) {
    await probe("livez", { signal }); // any answer proves that it is reachable
    return apiUrl("").origin;
  },
};

const certified: Step = {
  title: texts.run.certified,
  run: () => {
    throw new Skipped(location.protocol === "https:" ? texts.run.noCertificates : texts.run.plain);
  },
};

const inTime: Step = {
  title: texts.run.clocks,
  async run(signal) {
    const began = Date.now();
    const { date } = await probe("livez", { signal });
    if (date === undefined) throw new Skipped(texts.run.noDate);
    // The server leaves out the fraction of the second.
    const skew = date + 500 - (began + Date.now()) / 2;
    const seconds = Math.round(Math.abs(skew) / 1000);
    if (Math.abs(skew) > MOST_SKEW) throw new StepFailure(texts.run.skewed(seconds), texts.run.skewRemedy);
    return texts.run.inTime(seconds);
  },
};

const ready: Step = {
  title: DOCTOR_TEXTS.ready.title,
  async run(signal) {
    const words = DOCTOR_TEXTS.ready;
    const { status, text } = await probe("readyz", { signal, parameters: { verbose: true }, accept: "text/plain" });
    if (status < 300) return words.ok;
    if (status < 500) throw new Skipped(words.other(status));
    const failed = readinessChecks(text).filter(({ ok }) => !ok);
    if (failed.length === 0) throw new StepFailure(words.other(status), words.remedyWithoutReason);
    throw new StepFailure(words.failed(failed), words.remedy);
  },
};

const known: Step = {
  title: DOCTOR_TEXTS.known.title,
  async run(signal) {
    const answer = await probe("console/session", { signal });
    const { user, acting } = jsonOf<{ readonly user?: User; readonly acting?: User }>(answer.text) ?? {};
    const shown = acting ?? user;
    if (shown === undefined) throw new StepFailure(messageOf(answer), texts.run.signInAgain);
    return DOCTOR_TEXTS.known.user(shown.username, shown.groups);
  },
};

const indexed: Step = {
  title: DOCTOR_TEXTS.indexed.title,
  async run(signal) {
    const words = DOCTOR_TEXTS.indexed;
    const { status, text } = await probe("metrics", { signal, accept: "text/plain" });
    if (status >= 300) throw new Skipped(words.denied(status));
    const lags = indexLags(text);
    if (lags.length === 0) throw new Skipped(words.none);
    const late = lags.find(({ isLate }) => isLate);
    if (late !== undefined) throw new StepFailure(words.late(late), words.remedy(late.shard));
    return words.ok(lags);
  },
};

/** Steps for the server of the page. */
export const SERVER_STEPS: readonly Step[] = [reached, certified, inTime, ready, known, indexed];

/** The steps for an API at a path: access and its discovery, and a watch of one of its resources. `isOptional`: the user may have no access. */
export function apiSteps(path: string, { isOptional = false } = {}): readonly Step[] {
  let resources: readonly Resource[] | undefined;
  return [
    {
      title: DOCTOR_TEXTS.entered.title,
      async run(signal) {
        const answer = await probe(`${path}/api`, { signal });
        if (answer.status === 403 && isOptional) throw new Skipped(messageOf(answer));
        if (answer.status >= 300) throw new StepFailure(`${answer.status}: ${messageOf(answer)}`, remedyOf(answer));
        resources = await readResources(path, signal);
        return texts.run.serves(resources.length);
      },
    },
    {
      title: DOCTOR_TEXTS.synced.title,
      async run(signal) {
        if (resources === undefined) throw new Skipped(texts.run.noAccess);
        return synced(path, watchedOf(resources), signal);
      },
    },
  ];
}

/** The resource to watch: namespaces, where there are any, since other lists may be long. */
export const watchedOf = (resources: readonly Resource[]): Resource | undefined =>
  resources.find(({ group, resource }) => group === "" && resource === "namespaces") ??
  resources.find(({ verbs }) => verbs.includes("list") && verbs.includes("watch"));

async function synced(path: string, kind: Resource | undefined, signal: AbortSignal): Promise<string> {
  const words = DOCTOR_TEXTS.synced;
  if (kind === undefined) throw new Skipped(words.none);
  const at = `${path}/${resourcePath(kind)}`;
  const listed = await probe(at, { signal, parameters: { limit: 1 } });
  if (listed.status === 403) throw new Skipped(words.forbidden(kind.resource, messageOf(listed)));
  if (listed.status >= 300) throw new StepFailure(`${listed.status}: ${messageOf(listed)}`, remedyOf(listed));
  const first = await firstState(at, signal);
  if (typeof first !== "string") return words.ok(kind.resource, first.objects, first.milliseconds);
  throw new StepFailure(words.late(kind.resource, PATIENCE / 1000, first), words.remedy);
}

function remedyOf({ status }: Answer): string {
  const { ofMessage, internal, wait } = DOCTOR_TEXTS.entered;
  if (status === 403) return texts.run.askForAccess;
  if (status < 500) return ofMessage;
  return status === 500 ? internal : wait;
}
