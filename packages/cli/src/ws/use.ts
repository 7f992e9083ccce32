import { isApiError } from "@virtual-workspaces/apimachinery";
import type { APIBinding, WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { Failure, UsageError } from "../process/failure.ts";
import { type Entered, enter, replacing, typeText } from "./enter.ts";
import type { WsCommand } from "./flags.ts";
import { goBack, goTo } from "./session/contexts.ts";
import { API_BINDINGS, WORKSPACES } from "./session/kinds.ts";
import { note, say } from "./session/output.ts";
import { type Destination, parseDestination, parseWorkspaceUrl, resolvePath, topOf } from "./session/path.ts";
import type { Session } from "./session/session.ts";

const CD =
  "Note: 'kubectl ws' now matches 'cd' semantics: go to home workspace. 'kubectl ws -' to go back. 'kubectl ws .' to print current workspace.";
const LEGACY =
  "Note: Using 'root:' to define an absolute path is no longer supported. Instead, use ':root' to specify an absolute path.";

export const use: WsCommand = {
  words: [0, 1],
  async run(session, [word = ""], { short = false, direct = false }) {
    const name = word === "" ? "~" : absolute(word);
    if (name === "." && !direct) {
      sayWhere(session.url, { short });
      return;
    }
    const { url, type } = await go(session, name, direct);
    await warnOfClaims(session, url);
    sayWhere(url, { short, type });
    if (word === "" && !short) note(CD);
  },
};

/** Makes a workspace the current one and prints it; used by other commands, too. */
export async function useWorkspace(session: Session, path: string): Promise<void> {
  const { url, type } = await settle(session, path);
  await warnOfClaims(session, url);
  sayWhere(url, { type });
}

/** Treats `root:x` as absolute, as before kcp introduced `:root`. */
function absolute(word: string): string {
  const name = word.replaceAll("/", ":");
  if (name !== "root" && !name.startsWith("root:")) return word;
  note(LEGACY);
  return `:${name}`;
}

interface Gone extends Partial<Pick<Entered, "type">> {
  readonly url: string;
}

async function go(session: Session, word: string, direct: boolean): Promise<Gone> {
  const wanted = parseDestination(word, { base: session.place.base, home: session.home });
  // Neither is checked, as in kcp: the user was in the previous one, and may lack access to the first.
  if (wanted.to === "previous" || wanted.to === "top") {
    if (direct) throw new UsageError(`--direct does not work with ${word}: name the workspace`);
    if (wanted.to === "previous") return { url: await goBack(session.kubeconfig) };
    return { url: await goTo(session.kubeconfig, topOf(session.place.path)) };
  }
  if (wanted.to !== "proxy") return settle(session, await pathOf(session, wanted, word), { direct, word });
  return settle(session, wanted.path, { direct, through: wanted.proxy });
}

/** Whether a cluster may replace the workspace. */
interface Meant {
  /** Whether to use the workspace itself. */
  readonly direct?: boolean;
  /** ClusterProxy to use. @default the one that replaces the workspace */
  readonly through?: string;
  /** Argument of the user, for suggestions. */
  readonly word?: string;
}

async function settle(session: Session, path: string, { direct = false, through, word }: Meant = {}): Promise<Gone> {
  const { path: there, type } = await enter(session, path, word);
  const proxy = direct ? undefined : (through ?? (await replacing(session, there)));
  const url = await goTo(session.kubeconfig, { path: there, ...(proxy !== undefined && { proxy }) });
  return { url, ...(type && { type }) };
}

async function pathOf(session: Session, wanted: Destination, word: string): Promise<string> {
  const { path } = session.place;
  switch (wanted.to) {
    case "home":
      return resolvePath(wanted.below === "" ? "." : wanted.below, await homeOf(session), word);
    case "absolute":
      return resolvePath(wanted.path, "", word);
    case "relative":
      return resolvePath(wanted.path, path, word);
    default:
      return path;
  }
}

/** kcp creates the home workspace on this request. Only the path of its URL is used, not the host. */
async function homeOf(session: Session): Promise<string> {
  const { spec } = await session.client("root").resource(WORKSPACES).get("~", session.patience);
  const place = parseWorkspaceUrl(spec.URL ?? "");
  if (place === undefined) throw new Failure(`invalid home workspace URL ${JSON.stringify(spec.URL ?? "")}`);
  return place.path;
}

/** Warns of permission claims of exports that bindings here do not answer. Prints nothing for users who may not read bindings. */
async function warnOfClaims(session: Session, url: string): Promise<void> {
  const place = parseWorkspaceUrl(url);
  if (place === undefined) return;
  try {
    const { items } = await session.client(place.path).resource(API_BINDINGS).all(session.patience);
    for (const text of await unresolvedClaims(items)) note(text);
  } catch (error) {
    if (isApiError(error) && (error.code === 403 || error.code === 404)) return;
    note(`error checking APIBindings: ${error instanceof Error ? error.message : error}`);
  }
}

export const current: WsCommand = {
  words: [0, 0],
  run: async ({ url }, _words, { short = false }) => sayWhere(url, { short }),
};

/** Prints the workspace in kcp's words. */
function sayWhere(
  url: string,
  { short = false, type }: { readonly short?: boolean; readonly type?: WorkspaceTypeReference | undefined } = {},
): void {
  const { path, proxy } = parseWorkspaceUrl(url) ?? {};
  if (short) {
    if (path !== undefined) say(path);
  } else if (path === undefined) say(`Current workspace is the URL ${JSON.stringify(url)}.`);
  else {
    const through = proxy === undefined ? "" : `, through its ClusterProxy ${JSON.stringify(proxy)}`;
    say(`Current workspace is '${path}'${type === undefined ? "" : ` (type ${typeText(type)})`}${through}.`);
  }
}

/** Returns the unanswered permission claims of bindings, in kcp's words (`findUnresolvedPermissionClaims`). */
async function unresolvedClaims(bindings: readonly APIBinding[]): Promise<readonly string[]> {
  const claiming = bindings.filter(({ status }) => (status?.exportPermissionClaims?.length ?? 0) > 0);
  if (claiming.length === 0) return [];
  const { formatClaim, sameClaim } = await import("@virtual-workspaces/kcp/apis");
  return claiming.flatMap(({ metadata, spec, status }) =>
    (status?.exportPermissionClaims ?? []).flatMap((exported) => {
      const claim = formatClaim(exported);
      const answer = (spec.permissionClaims ?? []).find((one) => sameClaim(one, exported));
      if (answer === undefined)
        return [
          `Warning: claim for ${claim} exported but not specified on APIBinding ${metadata.name}\nAdd this claim to the APIBinding's Spec.`,
        ];
      const warnings: string[] = [];
      if (answer.state !== "Accepted" && answer.state !== "Rejected")
        warnings.push(
          `Warning: claim for ${claim} specified on APIBinding ${metadata.name} but not accepted or rejected.`,
        );
      const [allowed, expected] = [listed(answer.verbs), listed(exported.verbs)];
      if (allowed !== expected)
        warnings.push(
          `Warning: allowed verbs (${allowed}) on claim for ${claim} on APIBinding ${metadata.name} do not match expected verbs (${expected}).`,
        );
      return warnings;
    }),
  );
}

function listed(verbs: readonly string[] = []): string {
  return [...new Set(verbs)].toSorted().join(",");
}
