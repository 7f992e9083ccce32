import type { WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { say, type WsCommand } from "../command.ts";
import { typeText } from "../enter.ts";
import { placeOf } from "../path.ts";

export const current: WsCommand = {
  usage: "current [--short]",
  flags: ["short"],
  words: [0, 0],
  run: async ({ url }, _words, { short = false }) => sayWhere(url, { short }),
};

/** In kcp's words. */
export function sayWhere(
  url: string,
  { short = false, type }: { readonly short?: boolean; readonly type?: WorkspaceTypeReference | undefined } = {},
): void {
  const { path, proxy } = placeOf(url) ?? {};
  if (short) {
    if (path !== undefined) say(path);
  } else if (path === undefined) say(`Current workspace is the URL ${JSON.stringify(url)}.`);
  else {
    const through = proxy === undefined ? "" : `, through its ClusterProxy ${JSON.stringify(proxy)}`;
    say(`Current workspace is '${path}'${type === undefined ? "" : ` (type ${typeText(type)})`}${through}.`);
  }
}
