"""Board games for two players, and a player that learns them by searching and playing itself."""

from playgrad.games.connect_four import ConnectFour
from playgrad.games.go import Go
from playgrad.games.matches import MatchResult, elo_difference, match
from playgrad.games.network import network
from playgrad.games.othello import Othello
from playgrad.games.players import (
    NetworkPlayer,
    OnePlyPlayer,
    Player,
    RandomPlayer,
    RolloutPlayer,
)
from playgrad.games.protocol import Game, State
from playgrad.games.ratings import Rating
from playgrad.games.search import SearchResult, search
from playgrad.games.self_play import SelfPlay
from playgrad.games.symmetry import Symmetry
from playgrad.games.tic_tac_toe import TicTacToe

__all__ = [
    "ConnectFour",
    "Game",
    "Go",
    "MatchResult",
    "NetworkPlayer",
    "OnePlyPlayer",
    "Othello",
    "Player",
    "RandomPlayer",
    "Rating",
    "RolloutPlayer",
    "SearchResult",
    "SelfPlay",
    "State",
    "Symmetry",
    "TicTacToe",
    "elo_difference",
    "match",
    "network",
    "search",
]
