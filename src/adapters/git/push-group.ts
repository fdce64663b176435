/** One attempt to land a batch of runs: look, edit, ask the guards, push, and read what became of it. */
import type { Outcome, Terminal, Transient } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { CommitSha } from '../../api/repository.ts';
import { parseCommitSha } from '../../api/repository.ts';
import type { PushPlan } from '../../ports/git.ts';
import type { Access } from './credentials.ts';
import type { FoundRun } from './history.ts';
import { findRuns } from './history.ts';
import { editMembers } from './member-edits.ts';
import type { PushExit, RefUpdate } from './mirror.ts';
import type { NewObject } from './objects.ts';
import type { ChainSettings, EditOnCommit } from './push-chain.ts';
import { makeCommit } from './push-chain.ts';
import type { Batch, PushMember } from './push-member.ts';
import { halves } from './push-member.ts';
import type { Chain } from './push-outcome.ts';
import { lostRace, refusal, settleChain, settleFound } from './push-outcome.ts';
import type { Session } from './session.ts';
import { refusedBeforeWriting } from './transport-failure.ts';

/** Tips that an attempt works on. */
interface Ground {
  readonly tips: ReadonlyMap<string, CommitSha>;
  /** Whether the remote was asked in this attempt; otherwise a tip may be a few seconds old, which only a push can tell. */
  readonly asked: boolean;
}

/** Lands batches through one session. Runs in the session's turn. */
export class PushGroup {
  readonly #session: Session;
  readonly #identity: string;
  readonly #fileBytes: number;
  readonly #memo: NonNullable<ChainSettings['memo']> = new WeakMap();

  constructor(session: Session, identity: string, fileBytes: number) {
    this.#session = session;
    this.#identity = identity;
    this.#fileBytes = fileBytes;
  }

  /** Tries once; the batches that are to be tried next. A failure is that of every member that has no result yet. */
  async attempt(batch: Batch, access: Access): Promise<Outcome<readonly Batch[]>> {
    const ground = await this.#ground(batch, access);
    if (ground.outcome !== 'done') return ground;
    const looked = await this.#settleLanded(open(batch), ground.value, access);
    if (looked.outcome !== 'done') return looked;
    const changing = looked.value === 'ask' ? looked : await this.#settleUnchanged(open(batch), ground.value, access);
    if (changing.outcome !== 'done') return changing;
    if (changing.value === 'ask') return done([{ ...batch, members: open(batch), fetchFirst: true }]);
    const chains = await this.#agreed(batch, ground.value);
    if (chains.outcome !== 'done') return chains;
    const moving = chains.value.filter((chain) => chain.head !== chain.base);
    if (moving.length === 0) return done([]);
    const updates = moving.map(({ branch, base, head }): RefUpdate => ({ branch, expected: base, commit: head }));
    const exit = await this.#session.mirror.push(updates, access);
    return this.#conclude({ batch, chains: moving, exit, asked: ground.value.asked }, access);
  }

  get #settings(): ChainSettings {
    return { store: this.#session.mirror.store, identity: this.#identity, fileBytes: this.#fileBytes, memo: this.#memo };
  }

  async #ground(batch: Batch, access: Access): Promise<Outcome<Ground>> {
    const { mirror, admitted } = this.#session;
    const branches = new Set(open(batch).map((member) => member.plan.branch));
    const fresh = new Map<string, CommitSha>();
    for (const branch of batch.fetchFirst || !admitted ? [] : branches) {
      const tip = mirror.freshTip(branch);
      if (tip !== undefined) fresh.set(branch, tip);
    }
    if (fresh.size === branches.size) return done({ tips: fresh, asked: false });
    const fetched = await this.#session.fetchTips([...branches], access);
    if (fetched.outcome !== 'done') return fetched;
    const tips = new Map<string, CommitSha>();
    for (const member of open(batch)) {
      const tip = fetched.value.get(member.plan.branch) ?? transient('GitServerError', 'the fetch said nothing about the branch');
      if (tip.outcome === 'done') tips.set(member.plan.branch, tip.value.tip);
      else member.settle(vanished(tip, member.plan));
    }
    return done({ tips, asked: true });
  }

  /** Looks for the runs' own commits, one walk a branch. */
  #find(tip: string, members: readonly PushMember[]): Promise<Outcome<ReadonlyMap<string, FoundRun>>> {
    return findRuns(
      tip,
      members.map((member) => member.plan),
      (oid) => this.#session.mirror.store.commit(oid),
    );
  }

  /** Gives a result to runs whose commit is on the branch already. */
  async #settleLanded(members: readonly PushMember[], ground: Ground, access: Access): Promise<Outcome<'go' | 'ask'>> {
    for (const [branch, group] of Map.groupBy(members, (member) => member.plan.branch)) {
      const tip = ground.tips.get(branch);
      if (tip === undefined) continue;
      const found = await this.#find(tip, group);
      if (found.outcome !== 'done') return found;
      if (found.value.size > 0 && !ground.asked) return done('ask');
      const there = group.filter((member) => found.value.has(member.plan.run));
      const edits = await this.#edits(there, tip, access);
      if (edits.outcome !== 'done') return edits;
      for (const member of there) {
        const run = found.value.get(member.plan.run);
        const edit = edits.value.get(member);
        if (run === undefined || edit === undefined) continue;
        settleFound({ member, run, tip, races: member.races }, edit);
      }
    }
    return done('go');
  }

  /** Gives a result to runs whose edit is refused or changes nothing. */
  async #settleUnchanged(members: readonly PushMember[], ground: Ground, access: Access): Promise<Outcome<'go' | 'ask'>> {
    for (const [branch, group] of Map.groupBy(members, (member) => member.plan.branch)) {
      const tip = ground.tips.get(branch);
      if (tip === undefined) continue;
      const edits = await this.#edits(group, tip, access);
      if (edits.outcome !== 'done') return edits;
      for (const [member, edit] of edits.value) {
        if (edit.outcome === 'done' && (edit.value.state !== 'edited' || edit.value.writes.size > 0)) continue;
        if (!ground.asked) return done('ask');
        member.settle(edit.outcome === 'done' ? done({ result: 'unchanged', tip }) : edit);
      }
    }
    return done('go');
  }

  #edits(members: readonly PushMember[], tip: string, access: Access): Promise<Outcome<ReadonlyMap<PushMember, Outcome<EditOnCommit>>>> {
    const bring = (oids: readonly string[]): Promise<Outcome<void>> => this.#session.fetchObjects(oids, access);
    return editMembers(members, { settings: this.#settings, tip, bring });
  }

  /**
   * The commits of those whose guards agree when all that is left to do is to send them. Whoever disagrees is left out, and what the others have
   * is made and asked for again.
   */
  async #agreed(batch: Batch, ground: Ground): Promise<Outcome<readonly Chain[]>> {
    for (;;) {
      const chains = await this.#chains(open(batch), ground);
      if (chains.outcome !== 'done') return chains;
      const asked = open(batch);
      await askGuards(asked);
      if (open(batch).length === asked.length) return chains;
    }
  }

  /** Makes the commits of all branches and writes them into the mirror. */
  async #chains(members: readonly PushMember[], ground: Ground): Promise<Outcome<readonly Chain[]>> {
    const chains = new Map<string, Chain>();
    const objects: NewObject[] = [];
    for (const member of members) {
      const base = ground.tips.get(member.plan.branch);
      if (base === undefined) continue;
      const chain = chains.get(member.plan.branch) ?? { branch: member.plan.branch, base, head: base, links: [] };
      chains.set(member.plan.branch, chain);
      const made = await this.#make(member, chain, objects);
      if (made.outcome !== 'done') return made;
    }
    const written = await this.#session.mirror.writer.write(objects);
    return written.outcome === 'done' ? done([...chains.values()]) : written;
  }

  async #make(member: PushMember, chain: Chain, objects: NewObject[]): Promise<Outcome<void>> {
    const { store } = this.#session.mirror;
    const made = await makeCommit(this.#settings, chain.head, member.plan);
    if (made.outcome === 'terminal') member.settle(made);
    if (made.outcome === 'transient') return made;
    if (made.outcome !== 'done') return done(undefined);
    if ('missing' in made.value) return transient('GitMirrorCorrupt', 'a file that was there a moment ago is missing from the mirror');
    const commit = parseCommitSha(made.value.commit);
    if (commit === undefined) throw new Error('a commit was made without an id');
    objects.push(...made.value.objects);
    for (const object of made.value.objects) if (object.oid === commit) store.keepCommit(object);
    chain.links.push({ member, commit, base: chain.head, changed: made.value.changed });
    chain.head = commit;
    return done(undefined);
  }

  async #conclude(
    pushed: { readonly batch: Batch; readonly chains: readonly Chain[]; readonly exit: PushExit; readonly asked: boolean },
    access: Access,
  ): Promise<Outcome<readonly Batch[]>> {
    const { batch, chains, exit, asked } = pushed;
    const raced: PushMember[] = [];
    const refused: PushMember[] = [];
    const unknown: Chain[] = [];
    let words = '';
    for (const chain of chains) {
      const result = exit.refs.get(chain.branch);
      const members = chain.links.map((link) => link.member);
      if (result === undefined) unknown.push(chain);
      else if (result.result === 'landed') settleChain(chain);
      else if (result.result === 'race') raced.push(...lostRace(members, asked, result.words));
      else if (result.result === 'server') for (const member of members) member.settle(transient('GitServerError', result.words));
      else if (result.wholeBranch) for (const member of members) member.settle(refusal(chain.branch, result.words));
      else {
        refused.push(...members);
        words = result.words;
      }
    }
    const failed = exit.failure === undefined ? done(undefined) : await this.#lookAgain(unknown, exit.failure, access);
    if (failed.outcome !== 'done') return failed;
    const next: Batch[] = [];
    if (raced.length > 0) next.push({ members: raced, closed: batch.closed, fetchFirst: true });
    const [only] = refused;
    if (refused.length === 1 && only !== undefined) only.settle(refusal(only.plan.branch, words));
    else for (const half of halves(refused)) if (half.length > 0) next.push({ members: [...half], closed: true, fetchFirst: false });
    return done(next);
  }

  /** The connection broke and nobody said whether the push was taken: only the remote knows. */
  async #lookAgain(chains: readonly Chain[], failure: Outcome<never>, access: Access): Promise<Outcome<void>> {
    const certain = failure.outcome !== 'transient' || refusedBeforeWriting.has(failure.reason.code);
    const tips = certain
      ? failure
      : await this.#session.fetchTips(
          chains.map((chain) => chain.branch),
          access,
        );
    if (tips.outcome !== 'done') return failure;
    for (const chain of chains) {
      const tip = tips.value.get(chain.branch);
      if (tip?.outcome !== 'done') continue;
      const found = await this.#find(
        tip.value.tip,
        chain.links.map((link) => link.member),
      );
      if (found.outcome !== 'done') return failure;
      for (const { member, base, changed } of chain.links) {
        const run = found.value.get(member.plan.run);
        const commit = parseCommitSha(run?.commit ?? '');
        if (changed && commit !== undefined)
          member.settle(
            done({ result: 'landed', commit, base: parseCommitSha(run?.info.parents[0] ?? '') ?? base, found: false, races: member.races }),
          );
      }
    }
    for (const chain of chains) for (const { member } of chain.links) if (!member.settled()) member.settle(failure);
    return done(undefined);
  }
}

/** A branch that was there when the run began may come back, as a repository may; one that never was has to be asked for by another name. */
const vanished = (failure: Transient | Terminal, plan: PushPlan): Outcome<never> => {
  const { code, message } = failure.reason;
  const gone = code === 'GitBranchMissing' || code === 'GitRepositoryEmpty';
  return gone && plan.since !== undefined ? transient(code, `${message} any more`) : failure;
};

const open = (batch: Batch): PushMember[] => batch.members.filter((member) => !member.settled());

async function askGuards(members: readonly PushMember[]): Promise<void> {
  await Promise.all(
    members.map(async (member) => {
      try {
        if (!(await member.guard())) member.settle(done({ result: 'withdrawn' }));
      } catch (error) {
        member.fail(error);
      }
    }),
  );
}
