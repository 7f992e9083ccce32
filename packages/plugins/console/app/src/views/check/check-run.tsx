import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../../ui/announce.tsx";
import { texts } from "../texts.ts";
import { examine, type StepResult, type Subject } from "./step.ts";

interface CheckRunProps {
  readonly label: string;
  /** What to check is not known yet. */
  readonly isWaiting: boolean;
  /** Called when the user starts the checks. */
  readonly subjects: () => readonly Subject[];
}

/** A button that runs checks, and their results as a table. */
export function CheckRun({ label, isWaiting, subjects }: CheckRunProps) {
  const [results, setResults] = useState<readonly StepResult[]>([]);
  const [isRunning, setRunning] = useState(false);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const words = texts.run;
  const run = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setResults([]);
    setRunning(true);
    const found: StepResult[] = [];
    for await (const result of examine(subjects(), signal)) {
      found.push(result);
      setResults([...found]);
    }
    if (signal.aborted) return;
    setRunning(false);
    announce(summaryOf(found));
  };
  return (
    <>
      <p class="row">
        <button type="button" onClick={() => void run()} disabled={isRunning || isWaiting}>
          {label}
        </button>
        {isRunning && <span class="muted">{words.running(results.length)}</span>}
        {!isRunning && results.length > 0 && <strong>{summaryOf(results)}</strong>}
      </p>
      {results.length > 0 && (
        <div class="table-wrap">
          <table class="small-table check-results" aria-label={label}>
            <thead>
              <tr>
                <th scope="col">{words.subject}</th>
                <th scope="col">{words.check}</th>
                <th scope="col">{words.result}</th>
                <th scope="col">{words.finding}</th>
              </tr>
            </thead>
            <tbody>
              {results.map((one, index) => (
                <Row
                  key={`${one.subject} ${one.title}`}
                  result={one}
                  isFirst={results[index - 1]?.subject !== one.subject}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const LOOKS = { ok: "badge good", failed: "badge failed", skipped: "badge" } as const;

function Row({ result, isFirst }: { readonly result: StepResult; readonly isFirst: boolean }) {
  const { subject, title, result: kind, detail, remedy } = result;
  return (
    <tr>
      <td>{isFirst ? <strong>{subject}</strong> : <span class="visually-hidden">{subject}</span>}</td>
      <th scope="row">{title}</th>
      <td>
        <span class={LOOKS[kind]}>{texts.run.results[kind]}</span>
      </td>
      <td>
        {detail}
        {remedy !== undefined && <p class="hint">{texts.run.remedy(remedy)}</p>}
      </td>
    </tr>
  );
}

function summaryOf(results: readonly StepResult[]): string {
  const count = (kind: StepResult["result"]) => results.filter(({ result }) => result === kind).length;
  return texts.run.summary({ ok: count("ok"), failed: count("failed"), skipped: count("skipped") });
}
