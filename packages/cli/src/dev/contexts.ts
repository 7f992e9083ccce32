import type { Context } from "./kubeconfig.ts";
import type { Loaded, ViewSummary } from "./messages.ts";
import { ADMIN, GUEST } from "./users.ts";

/**
 * The contexts of the kubeconfig, the current one first: all views at once as the admin, the same as the guest, and
 * each view as the admin. A view whose path has parameters of its own has none: nobody but its user knows them.
 */
export function contextsOf({ all, views }: Pick<Loaded, "all" | "views">, url: string): readonly Context[] {
  const open = views.filter(({ path }) => !path.includes(":"));
  const main = all ?? open[0];
  if (main === undefined) return [];
  const context = ({ name, path }: ViewSummary): Context => ({ name, server: url + path, user: ADMIN.name });
  const own = [main, ...open.filter((view) => view !== main)].map(context);
  const taken = own.some(({ name }) => name === GUEST.name);
  const guest = { ...context(main), name: taken ? `${main.name}-${GUEST.name}` : GUEST.name, user: GUEST.name };
  return [...own.slice(0, 1), guest, ...own.slice(1)];
}
