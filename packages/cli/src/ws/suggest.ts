import { baseName, nearest, parentPath } from "@virtual-workspaces/apimachinery";
import { WS_COMMANDS } from "./flags.ts";
import { WORKSPACES } from "./session/kinds.ts";
import { known } from "./session/requests.ts";
import type { Session } from "./session/session.ts";

/** Words by which users ask for a list, which `kubectl ws` takes for the name of a workspace. */
const LISTS: ReadonlySet<string> = new Set(["ls", "list", "l", "ll", "dir"]);

/**
 * Returns the end of a message about a missing workspace: what the user may have meant. Security: suggests only workspaces
 * that the user may list.
 *
 * @param path the missing workspace
 * @param word argument of the command; it may be a misspelled command
 */
export async function suggestion(session: Session, path: string, word = ""): Promise<string> {
  if (LISTS.has(word)) return ': "kubectl ws tree" and "kubectl get workspaces" list workspaces';
  const parent = parentPath(path);
  const siblings =
    parent === undefined ? undefined : await known(session.client(parent).resource(WORKSPACES).list(session.patience));
  const sibling = nearest(baseName(path), siblings?.items.map(({ metadata }) => metadata.name ?? "") ?? []);
  if (sibling !== undefined) return `: did you mean ${JSON.stringify(`${parent}:${sibling}`)}?`;
  const command = nearest(word, [...WS_COMMANDS.keys()]);
  return command === undefined ? "" : `: did you mean "kubectl ws ${command}"?`;
}
