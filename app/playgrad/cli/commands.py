"""The commands. Each one reports wrong usage before it does anything.

Imports are inside the functions, so that ``playgrad --help`` need not load the server's libraries.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from playgrad.cli import kinds
from playgrad.cli.ray_options import passed_ray
from playgrad.cli.strategy_options import passed_options, refuse_unused, refuse_without_strategy
from playgrad.signals import signals
from playgrad.training.strategies.registry import users_of


def run_train(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.train import train

    program = _program(options, parser)
    _check_checkpoints(options, parser)
    if options.token is not None and options.watch is None:
        parser.error("--token-file has no effect without --watch")
    passed = list(passed_options(options))
    if options.placement is not None:
        if options.parallel is not None:
            parser.error(
                "--parallel places all operations itself, so --placement has no effect with it"
            )
    elif options.device_kinds is not None:
        parser.error("--device-kinds has no effect without --placement")
    elif options.devices is not None:
        passed.insert(0, "devices")
    if options.parallel is None:
        refuse_without_strategy(passed, parser)
    else:
        refuse_unused(passed, options.parallel, parser)
    if options.rsh is not None and options.hosts is None:
        parser.error("--rsh has no effect without --hosts")
    if options.hosts is not None and options.placement is not None:
        parser.error("--placement plans for one machine, so it has no effect with --hosts")
    options.ray = passed_ray(options, "replica", parser)
    if options.ray is not None and options.parallel != "async":
        parser.error("--ray has no effect without --parallel async")
    signals.begin_work()
    if options.hosts is None:
        return train(program, options)
    from playgrad.cli.cluster import train_on_hosts

    return train_on_hosts(program, options)


def _check_checkpoints(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from playgrad.cli.checkpoint_folder import CheckpointFolder

    if options.checkpoint is None:
        for flag in ("checkpoint_every", "resume"):
            if getattr(options, flag):
                name = flag.replace("_", "-")
                parser.error(f"--{name} has no effect without --checkpoint DIR")
        if options.every is not None and options.parallel is None:
            parser.error(
                "--every N has no effect without --checkpoint DIR, which saves a checkpoint every "
                "N steps, or --parallel local, which averages the weights every N steps"
            )
        return
    if options.every is not None and options.parallel not in users_of("every"):
        if options.checkpoint_every is not None:
            parser.error("--every and --checkpoint-every both say when to save a checkpoint")
        options.checkpoint_every, options.every = options.every, None
    if not options.resume and CheckpointFolder(options.checkpoint).files():
        parser.error(
            f"{options.checkpoint} has checkpoints of an earlier run: add --resume to continue "
            "from the last one, or choose another folder"
        )


def run_sweep(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.sweep import sweep

    if options.grid is None and options.random is None:
        parser.error("nothing to try: add --grid NAME=VALUE,VALUE or --random NAME=LOW..HIGH")
    if options.random is not None and options.trials is None:
        parser.error("--random needs --trials N")
    if options.first_epochs is not None and options.halving is None:
        parser.error("--first-epochs has no effect without --halving")
    if options.halving is not None and options.epochs is None:
        parser.error("--halving needs --epochs N, the length of a whole trial")
    options.ray = passed_ray(options, "trial", parser)
    program = _program(options, parser)
    signals.begin_work()
    return sweep(program, options)


def run_simulate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.simulate import simulate

    refuse_unused(list(passed_options(options)), options.parallel, parser)
    if options.links is not None and options.here:
        parser.error("--here measures this machine, so --links has no effect with it")
    program = _program(options, parser)
    signals.begin_work()
    return simulate(program, options)


def run_hosts(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.hosts import check_hosts

    signals.begin_work()
    return check_hosts(options)


def _program(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Path:
    from playgrad.cli.train import find_program

    program = find_program(options.program)
    if program is None:
        parser.error(f"no example or file {options.program!r:.200}: see `playgrad examples`")
    options.program = str(program)
    return program


def run_devices(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_devices

    signals.begin_work()
    return print_devices(options.json)


def run_tune(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import tune

    signals.begin_work()
    return tune.run_tune(options)


def run_bench(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import bench

    signals.begin_work()
    return bench.run_bench(options)


def run_examples(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_examples

    return print_examples(options.json)


def run_predict(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.predict import predict

    if options.inputs.count("-") > 1:
        parser.error("standard input, -, can be read once only")
    signals.begin_work()
    return predict(options)


def run_export(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import convert

    if options.target is not None and options.format is None:
        try:
            kinds.exported_file(str(options.target))
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument TARGET: {error}")
    if options.opset is not None and not _writes_onnx(options):
        parser.error("argument --opset: it is for ONNX files, as TARGET or by --format onnx")
    signals.begin_work()
    return convert(
        options.source, options.target, options.format, options.opset, options.sequence_length
    )


def _writes_onnx(options: argparse.Namespace) -> bool:
    from playgrad.interchange.formats import format_of

    if options.target is None:
        return bool(options.format == "onnx")
    return format_of(options.target, options.format).name == "onnx"


def run_serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.server import serve
    from playgrad.server.embedding import FramePolicy

    try:
        FramePolicy.of(options.embed_in)
    except ValueError as error:
        parser.error(str(error))
    signals.begin_work()
    serve(options.host, options.port, options.allow_host, options.embed_in, options.docs_command)
    raise KeyboardInterrupt  # it returns only when it is interrupted


def run_watch(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.server.serve_watch import serve_watch

    address = options.address
    if options.token is not None:
        if address.token not in ("", options.token):
            parser.error("the address and --token-file have different tokens")
        address = replace(address, token=options.token)
    if not address.token:
        parser.error(
            "the token is missing, which `playgrad train --watch` prints: add --token-file FILE, "
            f"or write {address.name}#TOKEN"
        )
    if not address.is_private:
        print(
            f"playgrad: whoever is on the way to {address.name} can read what is sent, and the "
            "token. In a network that is not your own, use a tunnel of ssh (docs/watching.md).",
            file=sys.stderr,
        )
    signals.begin_work()
    serve_watch(address, options.port)
    raise KeyboardInterrupt  # it returns only when it is interrupted


def run_site(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.server.site import write_site

    signals.begin_work()
    site = write_site(options.out, options.lite, options.packages)
    print(
        f"{options.out}: {site.files} files, {site.size / 1e6:.1f} MB; "
        f"a first visit fetches {site.first_visit / 1e6:.1f} MB until Python is up.\n"
        f"To see it here: python -m http.server --bind 127.0.0.1 --directory {options.out}"
    )
    return 0


def run_models_add(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import models

    signals.begin_work()
    return models.add(options)


def run_models_list(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import models

    signals.begin_work()
    return models.list_models(options)


def run_models_rollback(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import models

    signals.begin_work()
    return models.rollback(options)


def run_models_set(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import models

    if options.policy and options.versions:
        parser.error("--policy and --versions exclude each other")
    signals.begin_work()
    return models.set_choice(options)


def run_models_serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import models
    from playgrad.server.hosts import Hosts

    if options.token_file is None and Hosts.of(options.host, options.allow_host).reach_others:
        parser.error(
            f"--host {options.host} can be reached from other machines: add --token-file FILE"
            if not options.allow_host
            else "--allow-host is for other machines: add --token-file FILE"
        )
    options.ray = passed_ray(options, "replica", parser)
    if options.ray is None and options.replicas is not None:
        parser.error("--replicas has no effect without --ray")
    if options.ray is not None and options.port == 0:
        parser.error("Ray does not choose a port: name one with --port")
    signals.begin_work()
    models.serve(options)
    raise KeyboardInterrupt  # it returns only when it is interrupted
