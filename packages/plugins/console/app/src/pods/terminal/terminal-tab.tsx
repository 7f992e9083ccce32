import "../../object/object.css";
import "../pods.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { useDenial } from "../../api/access.ts";
import { type ObjectAddress, objectPath } from "../../api/objects.ts";
import type { WholeObject } from "../../object/live-object.ts";
import { texts as common } from "../../texts.ts";
import { announce } from "../../ui/announce.tsx";
import { Field } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ContainerChoice } from "../container-choice.tsx";
import { containersOf, defaultContainer } from "../pod.ts";
import { texts } from "../texts.ts";
import { type ExecSession, openExec, type SessionEnd } from "./exec-session.ts";
import type { Screen } from "./screen.ts";
import { wordsOf } from "./words.ts";

interface TerminalTabProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

const SHELLS = ["sh", "bash"] as const;

type State =
  | { readonly phase: "idle"; readonly end?: SessionEnd }
  | { readonly phase: "connecting" | "open"; readonly container: string };

/** Commands in the containers of a pod. A session lasts as long as the tab is shown. */
export function TerminalTab({ address, object }: TerminalTabProps) {
  const containers = containersOf(object);
  const [container, setContainer] = useState(() => defaultContainer(object));
  const [shell, setShell] = useState<string>("sh");
  const [line, setLine] = useState("");
  const [isInteractive, setInteractive] = useState(true);
  const [problem, setProblem] = useState<string>();
  const { host, state, connect, end } = useSession(address);
  const denial = useDenial("create", address, "exec");
  const isIdle = state.phase === "idle";
  const words = texts.terminal;
  const start = () => {
    const command = shell === "" ? wordsOf(line) : [shell];
    const wrong = command === undefined ? words.openQuote : command.length === 0 ? words.noCommand : undefined;
    setProblem(wrong);
    if (wrong !== undefined || command === undefined) return;
    void connect({ container, command, isTerminal: shell !== "" || isInteractive });
  };
  if (containers.length === 0) return <p class="empty">{texts.noContainers}</p>;
  return (
    <div class="terminal-tab">
      <form
        class="pod-tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (isIdle) start();
        }}
      >
        <ContainerChoice containers={containers} value={container} onChange={setContainer} isDisabled={!isIdle} />
        <Field label={words.command}>
          {(attributes) => (
            <select
              {...attributes}
              value={shell}
              disabled={!isIdle}
              onChange={({ currentTarget }) => setShell(currentTarget.value)}
            >
              {SHELLS.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
              <option value="">{words.other}</option>
            </select>
          )}
        </Field>
        {shell === "" && (
          <>
            <Field label={words.typed} hint={words.typedHint} error={problem}>
              {(attributes) => (
                <input
                  {...attributes}
                  value={line}
                  disabled={!isIdle}
                  spellcheck={false}
                  onInput={({ currentTarget }) => setLine(currentTarget.value)}
                />
              )}
            </Field>
            <label class="check">
              <input
                type="checkbox"
                checked={isInteractive}
                disabled={!isIdle}
                onChange={({ currentTarget }) => setInteractive(currentTarget.checked)}
              />
              {words.interactive}
            </label>
          </>
        )}
        {/* Two elements: one that became the other would submit the form by the click that ended the session. */}
        {isIdle ? (
          <button key="connect" type="submit" class="primary">
            {words.connect}
          </button>
        ) : (
          <button key="end" type="button" onClick={end}>
            {words.end}
          </button>
        )}
      </form>
      {denial !== undefined && isIdle && (
        <p role="status" class="object-note warning">
          {words.denied(denial)}
        </p>
      )}
      <StateLine state={state} isDenied={denial !== undefined} />
      <div class="terminal-host" ref={host} />
      <p class="hint">{words.keys}</p>
    </div>
  );
}

interface StateLineProps {
  readonly state: State;
  /** The page says above why there is no terminal. */
  readonly isDenied: boolean;
}

function StateLine({ state, isDenied }: StateLineProps) {
  const words = texts.terminal;
  if (state.phase === "idle" && state.end?.kind === "failed")
    return isDenied && state.end.error.reason === "NoWebSocket" ? null : <Problem error={state.end.error} />;
  const isLost = state.phase === "idle" && state.end?.kind === "lost";
  return (
    <p role="status" class={isLost ? "object-note warning" : "muted"}>
      {state.phase === "connecting" && words.state.connecting}
      {state.phase === "open" && <span class="live">{words.state.open(state.container)}</span>}
      {state.phase === "idle" && state.end !== undefined && textOfEnd(state.end)}
    </p>
  );
}

function textOfEnd(end: SessionEnd): string {
  const words = texts.terminal;
  if (end.kind === "exit") return words.exit(end.code);
  if (end.kind === "lost") return words.lost;
  return end.kind === "closed" ? words.closed : end.error.message;
}

interface Wanted {
  readonly container: string;
  readonly command: readonly string[];
  readonly isTerminal: boolean;
}

function useSession(address: ObjectAddress) {
  const host = useRef<HTMLDivElement>(null);
  const session = useRef<ExecSession>(undefined);
  const screen = useRef<Screen>(undefined);
  const [state, setState] = useState<State>({ phase: "idle" });
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
      session.current?.close();
      screen.current?.remove();
    };
  }, []);
  const connect = async ({ container, command, isTerminal }: Wanted) => {
    setState({ phase: "connecting", container });
    const loaded = await import("./screen.ts").catch(() => undefined);
    const { current } = host;
    if (!isShown.current || current === null) return;
    if (loaded === undefined) {
      announce(common.object.notLoaded);
      return setState({ phase: "idle" });
    }
    screen.current?.remove();
    const shown = loaded.createScreen({
      host: current,
      label: texts.terminal.label(container),
      hasInput: isTerminal,
      onInput: (text) => session.current?.write(text),
      onResize: (columns, rows) => session.current?.resize(columns, rows),
    });
    screen.current = shown;
    session.current = openExec({
      ...{ path: `${objectPath(address)}/exec`, container, command, isTerminal },
      onOpen: () => {
        setState({ phase: "open", container });
        if (!isTerminal) return;
        session.current?.resize(...shown.size);
        shown.focus();
      },
      onOutput: (bytes, isError) => shown.write(bytes, isError),
      onEnd: (how) => {
        session.current = undefined;
        if (!isShown.current) return;
        shown.freeze();
        shown.note(textOfEnd(how));
        setState({ phase: "idle", end: how });
      },
    });
  };
  return { host, state, connect, end: () => session.current?.close() };
}
