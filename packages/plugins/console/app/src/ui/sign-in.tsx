import { useEffect, useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import type { KubeconfigToken } from "../api/kubeconfig.ts";
import { type Issuer, readIssuers, signIn, signInAt } from "../api/session.ts";
import { route } from "../route.ts";
import { texts } from "../texts.ts";
import { Field } from "./field.tsx";

interface SignInProps {
  readonly notice: string | undefined;
  /** Path of the workspace of the session that has ended, "" for the whole server; undefined if there was none. */
  readonly ended: string | undefined;
}

/** The page for users without a session. */
export function SignInPage({ notice, ended }: SignInProps) {
  const [text, setText] = useState("");
  // A link to a workspace says which one it is.
  const [workspace, setWorkspace] = useState(ended ?? (location.hash.startsWith("#/") ? route.peek().workspace : ""));
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [issuers, setIssuers] = useState<readonly Issuer[]>([]);
  useEffect(() => void readIssuers().then(setIssuers), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    let place = "";
    try {
      const { token, workspace: own } = await tokenOf(text);
      place = workspace.trim() || own || "";
      await signIn({ token, ...(place !== "" && { workspace: place }) });
    } catch (cause) {
      const { code, message } = asStatusError(cause);
      const unknown = place === "" ? texts.signIn.unknownToken : texts.signIn.unknownTokenIn(place);
      setError(code === 401 ? unknown : message);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <h1>{texts.title}</h1>
        {notice !== undefined && (
          <p class="not-signed-in" role="alert">
            {notice}
          </p>
        )}
        {issuers.map((issuer) => (
          <button type="button" key={issuer.path} class="primary" onClick={() => signInAt(issuer, workspace.trim())}>
            {texts.signIn.at(issuer.name)}
          </button>
        ))}
        {issuers.length > 0 && <p class="muted">{texts.signIn.or}</p>}
        <Field label={texts.signIn.credential} hint={texts.signIn.hint} error={error}>
          {(attributes) => (
            <textarea
              {...attributes}
              rows={6}
              value={text}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && !event.shiftKey && !text.includes("\n")) void submit(event);
              }}
            />
          )}
        </Field>
        <details class="sources">
          <summary>{texts.signIn.where}</summary>
          <dl>
            {texts.signIn.sources.map(([text, command]) => (
              <div key={command}>
                <dt>{text}</dt>
                <dd>
                  <code>{command}</code>
                </dd>
              </div>
            ))}
          </dl>
          <p class="hint">{texts.signIn.operator}</p>
        </details>
        <Field label={texts.signIn.workspace} hint={texts.signIn.workspaceHint}>
          {(attributes) => (
            <input
              {...attributes}
              value={workspace}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setWorkspace(currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? texts.signIn.busy : texts.signIn.submit}
        </button>
      </form>
    </main>
  );
}

/** The token itself, or that of the current context of a kubeconfig. Throws an error for readers. */
async function tokenOf(text: string): Promise<KubeconfigToken> {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error(texts.signIn.empty);
  if (isKubeconfig(trimmed)) return (await import("../api/kubeconfig.ts")).tokenOfKubeconfig(trimmed);
  if (/\s/.test(trimmed)) throw new Error(texts.signIn.notToken);
  return { token: trimmed };
}

const isKubeconfig = (text: string): boolean =>
  /^\s*["']?(apiVersion|kind|clusters|contexts|users)["']?\s*:/m.test(text) || text.startsWith("{");
