import "../../object/object.css";
import "../pods.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ObjectAddress, objectPath } from "../../api/objects.ts";
import { Copy } from "../../kcp/copy.tsx";
import type { WholeObject } from "../../object/live-object.ts";
import { Problem } from "../../ui/problem.tsx";
import { ContainerChoice } from "../container-choice.tsx";
import { type Container, containersOf, defaultContainer } from "../pod.ts";
import { texts } from "../texts.ts";
import { followLog, type LogState } from "./follow-log.ts";
import { type LogLine, LogLines, MOST_LINES } from "./log-lines.ts";
import { LogView } from "./log-view.tsx";

interface LogsTabProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

const TAILS = ["100", "500", "5000", ""] as const;
/** Lines are shown together, after this time in milliseconds. */
const GATHER = 50;

/** The logs of a pod, live. */
export function LogsTab({ address, object }: LogsTabProps) {
  const containers = containersOf(object);
  const [chosen, setContainer] = useState(() => defaultContainer(object));
  const [isPrevious, setPrevious] = useState(false);
  const [tail, setTail] = useState<string>("500");
  const [hasTimes, setTimes] = useState(false);
  const [isWrapped, setWrapped] = useState(false);
  const [search, setSearch] = useState("");
  const container = containers.find(({ name }) => name === chosen);
  const log = useLog({ address, container, isPrevious, tail });
  const text = search.trim().toLowerCase();
  const shown = useMemo(
    () => (text === "" ? log.lines : log.lines.filter((line) => line.text.toLowerCase().includes(text))),
    [log.lines, text],
  );
  const words = texts.logs;
  if (container === undefined) return <p class="empty">{texts.noContainers}</p>;
  const whole = () => shown.map((line) => (hasTimes ? `${line.time} ${line.text}` : line.text)).join("\n");
  const none = text !== "" ? words.noMatch : log.state.state === "connecting" ? words.state.connecting : words.empty;
  return (
    <div class="logs">
      <div class="pod-tools">
        <ContainerChoice containers={containers} value={chosen} onChange={setContainer} />
        <div class="field">
          <label for="log-tail">{words.tail}</label>
          <select id="log-tail" value={tail} onChange={({ currentTarget }) => setTail(currentTarget.value)}>
            {TAILS.map((one) => (
              <option key={one} value={one}>
                {one === "" ? words.all : one}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="log-search">{words.search}</label>
          <input
            id="log-search"
            type="search"
            data-search=""
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </div>
        <span class="checks">
          <Check label={words.previous} value={isPrevious} onChange={setPrevious} />
          <Check label={words.timestamps} value={hasTimes} onChange={setTimes} />
          <Check label={words.wrap} value={isWrapped} onChange={setWrapped} />
        </span>
      </div>
      <div class="row">
        <State state={log.state} isPrevious={isPrevious} />
        <span class="muted" role="status">
          {text !== "" && words.found(shown.length)}
        </span>
        <span class="log-actions">
          {(log.state.state === "ended" || log.state.state === "failed") && (
            <button type="button" class="link" onClick={log.again}>
              {log.state.state === "ended" ? words.readOn : words.again}
            </button>
          )}
          <Copy label={words.copy} text={whole} />
          <button type="button" class="link" onClick={() => download(`${address.name}-${chosen}.log`, whole())}>
            {words.download}
          </button>
          <button type="button" class="link" onClick={log.clear}>
            {words.clear}
          </button>
        </span>
      </div>
      {log.state.state === "failed" && log.state.error !== undefined && <Problem error={log.state.error} />}
      {log.dropped > 0 && <p class="hint">{words.dropped(log.dropped, MOST_LINES)}</p>}
      <LogView
        key={`${chosen} ${isPrevious} ${tail}`}
        label={words.label(chosen)}
        lines={shown}
        search={text}
        hasTimes={hasTimes}
        isWrapped={isWrapped}
        none={none}
      />
    </div>
  );
}

function State({ state: { state }, isPrevious }: { readonly state: LogState; readonly isPrevious: boolean }) {
  const words = texts.logs.state;
  if (state === "following" && !isPrevious) return <span class="live">{words.following}</span>;
  if (state === "reconnecting")
    return (
      <p class="object-note warning" role="status">
        {words.reconnecting}
      </p>
    );
  if (state === "ended")
    return (
      <span class="muted" role="status">
        {isPrevious ? words.complete : words.ended}
      </span>
    );
  return null;
}

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

function Check({ label, value, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  );
}

interface Followed {
  readonly address: ObjectAddress;
  readonly container: Container | undefined;
  readonly isPrevious: boolean;
  readonly tail: string;
}

interface ShownLog {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
  readonly state: LogState;
  readonly again: () => void;
  readonly clear: () => void;
}

/** Follows a log while the component is shown. A container that starts again is followed, too. */
function useLog({ address, container, isPrevious, tail }: Followed): ShownLog {
  const kept = useRef(new LogLines());
  const [shown, show] = useState<Pick<ShownLog, "lines" | "dropped">>({ lines: [], dropped: 0 });
  const [state, setState] = useState<LogState>({ state: "connecting" });
  const [attempt, setAttempt] = useState(0);
  const now = useRef(container);
  now.current = container;
  const name = container?.name;
  const update = () => show({ lines: kept.current.all, dropped: kept.current.dropped });
  useEffect(() => {
    kept.current = new LogLines();
    update();
    setState({ state: "connecting" });
    if (name === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer = undefined;
      update();
    };
    const stop = followLog({
      path: `${objectPath(address)}/log`,
      container: name,
      isPrevious,
      tail: tail === "" ? undefined : Number(tail),
      isRunning: () => now.current?.state === "running",
      onLines: (raws) => {
        if (raws.length === 0) return;
        kept.current.add(raws);
        timer ??= setTimeout(soon, GATHER);
      },
      onState: setState,
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [address, name, isPrevious, tail, attempt]);
  const again = () => setAttempt((count) => count + 1);
  const hasStarted = useRef(container?.start);
  useEffect(() => {
    if (hasStarted.current === container?.start) return;
    hasStarted.current = container?.start;
    if (state.state === "ended" || state.state === "failed") again();
  }, [container?.start, state.state]);
  const clear = () => {
    kept.current.clear();
    update();
  };
  return { ...shown, state, again, clear };
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text, "\n"], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
