import { expectCode, fail, skip } from "../assertions/expect.ts";
import { show } from "../assertions/json.ts";
import { mediaType } from "../http/answer.ts";
import { ABSENT, type KubeconfigAnswer, type ProviderCheck, type ProviderProbe } from "./provider-probe.ts";
import type { ListedSpace } from "./space-bodies.ts";

/** Maximum number of spaces that are read one by one. */
const LOOKED_AT = 20;
const LONGEST = 256 * 1024;

/** P2: lists, and spaces by name. */
export const listChecks: readonly ProviderCheck[] = [
  {
    id: "P2.1",
    title: "a list has spaces in the order of their names, without duplicates",
    protects: "pages omit spaces, which a manager then treats as deleted",
    run: async (probe) => {
      const { answer, spaces } = await probe.list();
      const names = spaces.map(({ name }) => name);
      const wrong = names.find((name, at) => at > 0 && name <= (names[at - 1] ?? ""));
      if (wrong !== undefined) fail(answer.request, "names in ascending order", show(names));
    },
  },
  {
    id: "P2.2",
    title: "get returns a space as in the list",
    protects: "a manager treats a space as deleted, or mistakes it for another one",
    run: async (probe) => {
      for (const space of (await probe.list()).spaces.slice(0, LOOKED_AT)) await isThere(probe, space);
    },
  },
  {
    id: "P2.3",
    title: "pages together contain the list, and each respects the limit",
    protects: "a manager treats spaces that are on no page as deleted",
    run: pagesAgree,
  },
  {
    id: "P2.4",
    title: "an invalid limit or continue token is rejected",
    protects: "a list silently starts over, or ends early",
    run: async (probe) => {
      for (const query of [{ limit: "many" }, { limit: -1 }, { limit: 1, continue: "conformance no page" }])
        probe.bodies.refusal(await probe.call("/v1/spaces", { query }), [400, 410]);
    },
  },
];

/** A space that was deleted in the meantime is no fault. */
async function isThere(probe: ProviderProbe, listed: ListedSpace): Promise<void> {
  const answer = await probe.space(listed.name);
  if (answer.status === 404) {
    const { spaces } = await probe.list();
    if (spaces.some(({ name }) => name === listed.name)) fail(answer.request, "the listed space", "404");
    return;
  }
  const { name, id } = probe.bodies.ok("Space", answer) as unknown as ListedSpace;
  if (name !== listed.name) fail(answer.request, show({ name: listed.name }), show({ name }));
  if (id === listed.id) return;
  const again = (await probe.list()).spaces.find((one) => one.name === name);
  if (again?.id !== id) fail(answer.request, show({ id: again?.id }), show({ id }));
}

async function pagesAgree(probe: ProviderProbe): Promise<void> {
  // Other clients may create and delete spaces meanwhile: only spaces that exist before and after must be on a page.
  const before = new Set((await probe.list()).spaces.map(({ name }) => name));
  const limit = Math.max(1, Math.ceil(before.size / 3));
  const paged = new Set<string>();
  let last = "";
  let next: string | undefined;
  do {
    const { answer, spaces, more } = await probe.list({ limit, continue: next });
    if (spaces.length > limit) fail(answer.request, `at most ${limit} spaces`, `${spaces.length}`);
    if (more !== undefined && spaces.length === 0) fail(answer.request, "a space, because there are more", "none");
    for (const { name } of spaces) {
      if (name <= last) fail(answer.request, `names after ${show(last)}`, show(name));
      paged.add(name);
      last = name;
    }
    next = more;
  } while (next !== undefined);
  const { answer, spaces } = await probe.list();
  const missing = spaces.find(({ name }) => before.has(name) && !paged.has(name));
  if (missing !== undefined) fail(answer.request, `${show(missing.name)} on a page, as in the list`, show([...paged]));
}

/** P5: kubeconfigs of spaces. */
export const kubeconfigChecks: readonly ProviderCheck[] = [
  {
    id: "P5.1",
    title: "a ready space has a kubeconfig that runs no commands and names no files",
    protects: "users of the space cannot use it, or run commands of a third party",
    run: async (probe) => {
      for (const answer of await kubeconfigs(probe)) await expectKubeconfig(answer);
    },
  },
  {
    id: "P5.2",
    title: "no cache stores a kubeconfig",
    protects: "credentials remain in unexpected places",
    run: async (probe) => {
      for (const { headers, request } of await kubeconfigs(probe))
        if (!(headers["cache-control"] ?? "").includes("no-store"))
          fail(request, "Cache-Control: no-store", headers["cache-control"] ?? "nothing");
    },
  },
  {
    id: "P5.3",
    title: "the request must say from where the client reaches the space",
    protects: "the address of the space is unreachable from the client",
    run: async (probe) => {
      const { name } = await probe.ready();
      for (const query of [{}, { scope: "conformance" }])
        probe.bodies.refusal(await probe.kubeconfig(name, { query }), [400]);
    },
  },
  {
    id: "P5.4",
    title: "the kubeconfig of a missing space gets a 404 that names it",
    protects: "a manager mistakes a proxy's answer for the provider's",
    run: async (probe) => {
      const answer = await probe.kubeconfig(ABSENT, { query: { scope: "external" } });
      probe.bodies.absent(answer, ABSENT);
    },
  },
];

async function kubeconfigs(probe: ProviderProbe): Promise<readonly KubeconfigAnswer[]> {
  const { name } = await probe.ready();
  const answers: KubeconfigAnswer[] = [];
  for (const scope of ["incluster", "external"]) answers.push(await probe.kubeconfig(name, { query: { scope } }));
  if (answers.some(({ status }) => status === 409)) skip(`the space ${name} is no longer ready`);
  for (const answer of answers) expectCode(answer, [200]);
  return answers;
}

/** Failures must not contain any of the kubeconfig. */
async function expectKubeconfig({ request, text, ...answer }: KubeconfigAnswer): Promise<void> {
  if (mediaType(answer) !== "application/yaml")
    fail(request, "application/yaml", mediaType(answer) || "no content type");
  if (Buffer.byteLength(text) > LONGEST) fail(request, `at most ${LONGEST} bytes`, `${Buffer.byteLength(text)}`);
  const { SecretFault, secretKubeconfig } = await import("@virtual-workspaces/kcp/targets");
  try {
    const { credential } = secretKubeconfig(text);
    if (credential === undefined) fail(request, "a kubeconfig with a user", "none");
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error;
    fail(request, "a self-contained kubeconfig", error.message);
  }
}
