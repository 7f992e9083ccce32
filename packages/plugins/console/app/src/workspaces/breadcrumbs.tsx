import { route, routeHash, routeTo } from "../route.ts";
import { ancestorsOf, nameOf } from "./workspace.ts";

/** The way from the top to the current workspace. */
export function Breadcrumbs() {
  const { workspace, resource } = route.value;
  return (
    <nav class="breadcrumbs" aria-label={workspace}>
      <ol>
        {ancestorsOf(workspace).map((path) => (
          <li key={path}>
            <a
              href={routeHash(routeTo({ workspace: path }))}
              {...(path === workspace && resource === undefined && { "aria-current": "page" as const })}
            >
              {nameOf(path)}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
