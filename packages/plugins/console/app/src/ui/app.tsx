import { useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { readSession, session, type User } from "../api/session.ts";
import { route, routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { CreateWorkspaceDialog } from "../workspaces/create-workspace.tsx";
import { DeleteWorkspaceDialog } from "../workspaces/delete-workspace.tsx";
import { GoToDialog } from "../workspaces/go-to.tsx";
import { WorkspacePage } from "../workspaces/workspace-page.tsx";
import { WorkspaceTree } from "../workspaces/workspace-tree.tsx";
import { Account } from "./account.tsx";
import { ActingBanner } from "./acting-banner.tsx";
import { Announcements } from "./announce.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { Icon } from "./icons.tsx";
import { KeysDialog, keysAreOpen, useGlobalKeys } from "./keys.tsx";
import { OtherLinkDialog } from "./other-link.tsx";
import { Problem } from "./problem.tsx";
import { SignInPage } from "./sign-in.tsx";
import { switchTheme, theme } from "./theme.ts";

/** The page, by the state of the session. */
export function App() {
  const { value } = session;
  return (
    <>
      {value.state === "signed-in" && (
        <Console
          key={`${value.user.username} ${value.acting?.username ?? ""}`}
          user={value.user}
          acting={value.acting}
        />
      )}
      {value.state === "signed-out" && (
        <SignInPage key={value.notice ?? ""} notice={value.notice} ended={value.workspace} />
      )}
      {value.state === "unknown" && value.error !== undefined && (
        <main class="sign-in">
          <Problem error={value.error} onRetry={() => void readSession()} />
        </main>
      )}
      <Announcements />
    </>
  );
}

interface ConsoleProps {
  readonly user: User;
  /** User as whom this tab acts. */
  readonly acting: User | undefined;
}

function Console({ user, acting }: ConsoleProps) {
  /** On narrow screens the tree lies over the page. */
  const isTreeOpen = useSignal(false);
  const showTree = useCallback(() => {
    isTreeOpen.value = true;
  }, [isTreeOpen]);
  useGlobalKeys(showTree);
  return (
    <div class="console">
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        {texts.header.skip}
      </button>
      <header class="bar">
        <button
          type="button"
          class="quiet menu"
          aria-label={texts.header.tree}
          aria-expanded={isTreeOpen.value}
          onClick={() => {
            isTreeOpen.value = !isTreeOpen.value;
          }}
        >
          <Icon name="menu" />
        </button>
        <strong class="brand">{texts.title}</strong>
        <ViewsLink />
        <ThemeButton />
        <button
          type="button"
          class="quiet"
          aria-label={texts.header.keys}
          title={texts.header.keys}
          onClick={() => (keysAreOpen.value = true)}
        >
          <Icon name="help" />
        </button>
        <Account user={user} acting={acting} />
      </header>
      {acting !== undefined && <ActingBanner acting={acting} user={user} />}
      <ConnectionBanner />
      <div class="body">
        <aside
          class={isTreeOpen.value ? "open" : ""}
          onKeyDown={({ key }) => {
            if (key === "Escape") isTreeOpen.value = false;
          }}
        >
          <WorkspaceTree onChoose={() => (isTreeOpen.value = false)} />
        </aside>
        <main id="content" tabIndex={-1} onPointerDown={() => (isTreeOpen.value = false)}>
          <WorkspacePage />
        </main>
      </div>
      <CreateWorkspaceDialog />
      <DeleteWorkspaceDialog />
      <GoToDialog />
      <KeysDialog />
      <OtherLinkDialog />
    </div>
  );
}

/** A link to the virtual workspaces of the server, seen from the current workspace. */
function ViewsLink() {
  const { workspace, resource, query } = route.value;
  const isCurrent = resource === undefined && query.view === "views";
  return (
    <a
      class="button quiet"
      href={routeHash(routeTo({ workspace }, { view: "views" }))}
      {...(isCurrent && { "aria-current": "page" as const })}
    >
      {texts.header.views}
    </a>
  );
}

function ThemeButton() {
  const { value } = theme;
  const label = texts.header.theme[value];
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={switchTheme}>
      <Icon name={value === "auto" ? "auto" : value === "light" ? "sun" : "moon"} />
    </button>
  );
}
