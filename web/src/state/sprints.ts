/** A sprint as the screens show it, and what can be done with one. Pure, but for the interface. */

import type { SprintOutcome, SprintState, Usage } from "../wire/types";
import type { Outcome } from "./types";

export interface SprintTask {
  readonly text: string;
  readonly state: "done" | "failed" | "now" | "todo";
  readonly rounds: number;
  /** Why it was left, or why the last round was not enough. */
  readonly why: string;
  readonly commit: string;
}

export interface SprintNow {
  readonly tasks: readonly SprintTask[];
  readonly done: number;
  /** How many tasks it has, at most. */
  readonly total: number;
  /** It follows the agent's own plan, whose tasks nobody knows before. */
  readonly ownPlan: boolean;
  /** How often a check has failed. */
  readonly failures: number;
  readonly checking: boolean;
  readonly began: number;
  readonly verifier: string;
  /** Who must approve of a task, and whether that is awaited now. */
  readonly reviewers: readonly string[];
  readonly judging: boolean;
  readonly halting: boolean;
  /** In dollars; null where the agent names no price. */
  readonly cost: number | null;
}

export interface SprintRequest {
  readonly tasks: readonly string[];
  readonly verifier: string;
  /** Who must approve of each task: backends or workers. */
  readonly review: readonly string[];
  readonly commits: boolean;
  readonly rounds: number;
  readonly minutes: number;
}

export interface SprintActions {
  start(worker: string, request: SprintRequest): Promise<Outcome>;
  add(worker: string, tasks: readonly string[]): Promise<Outcome>;
  skip(worker: string): Promise<Outcome>;
  /** Ends it after the turn that runs, or at once. */
  halt(worker: string, now: boolean): Promise<Outcome>;
}

/** The node's own limits: what a sprint has that names none. */
export const USUAL_ROUNDS = 3;
export const USUAL_MINUTES = 240;
const USUAL_TASKS = 20;
export const MOST_TASKS = 50;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(\[[ xX]\]\s*)?(\S.*)$/;

const made = new WeakMap<SprintState, SprintNow>();

/** The sprint, when the worker has used that much in all; the very same object while nothing changed. */
export function sprintOf(sprint: SprintState, usage: Usage): SprintNow {
  const cost = usage.cost_dollars == null ? null : usage.cost_dollars - (sprint.before?.cost_dollars ?? 0);
  const known = made.get(sprint);
  const now = known?.cost === cost ? known : sprintNow(sprint, cost);
  made.set(sprint, now);
  return now;
}

function sprintNow(sprint: SprintState, cost: number | null): SprintNow {
  const outcomes = sprint.outcomes ?? [];
  const tasks = sprint.tasks ?? [];
  const at = sprint.at ?? 0;
  const most = sprint.limits?.tasks ?? USUAL_TASKS;
  const total = tasks.length > 0 ? Math.min(tasks.length, most || MOST_TASKS) : most || MOST_TASKS;
  const now: SprintTask = {
    text: tasks[at] ?? "",
    state: "now",
    rounds: sprint.round ?? 1,
    why: sprint.trouble ?? "",
    commit: "",
  };
  const todo = tasks
    .slice(at + 1, total)
    .map((text): SprintTask => ({ text, state: "todo", rounds: 0, why: "", commit: "" }));
  return {
    tasks: [...outcomes.map(outcome), ...(at < total ? [now] : []), ...todo],
    done: outcomes.filter((one) => one.done).length,
    total,
    ownPlan: tasks.length === 0,
    failures: sprint.failures ?? 0,
    checking: sprint.phase === "check",
    began: sprint.began,
    verifier: sprint.verifier ?? "",
    reviewers: sprint.review ?? [],
    judging: sprint.phase === "review",
    halting: sprint.halting ?? false,
    cost,
  };
}

function outcome({ task, done, rounds = 1, commit = "", why = "" }: SprintOutcome): SprintTask {
  return { text: task, state: done ? "done" : "failed", rounds, why, commit: commit.slice(0, 8) };
}

/** The open items of a list, as Markdown has it; a text without a list is one task a line: as `model/sprint.py` reads it. */
export function tasksOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const items = lines.flatMap((line) => {
    const found = ITEM.exec(line);
    return found ? [found] : [];
  });
  if (items.length > 0) {
    return items.filter((one) => (one[1] ?? "").trim().toLowerCase() !== "[x]").map((one) => (one[2] ?? "").trim());
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}
